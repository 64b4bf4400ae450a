package message

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Message is the body of a delivery, in the form that Standard Webhooks
// recommends: what happened, when, and the data.
type Message struct {
	Type      string         `json:"type"` // alert.opened, channel.test, …
	Timestamp rimewatch.Time `json:"timestamp"`
	Data      Data           `json:"data"`
	File      *File          `json:"-"` // what goes with it, nil = nothing
}

// Data is what a message is about. Subject, Text, Facts and Alerts are what
// people read; the rest is for machines.
type Data struct {
	DeliveryID string                 `json:"delivery_id"` // the delivery's key
	Kind       rimewatch.DeliveryKind `json:"kind"`
	Level      int                    `json:"level"` // escalation level, from 0
	Workspace  Ref                    `json:"workspace"`
	Alert      json.RawMessage        `json:"alert"` // as in the REST API, null without one
	Device     *Device                `json:"device"`
	Site       *Site                  `json:"site"`
	Subject    string                 `json:"subject"`       // "[" Tag "] ", if there is one, before the title
	Tag        string                 `json:"tag,omitempty"` // what sorts a list of messages: critical, resolved, …
	Text       string                 `json:"text"`          // one or a few sentences
	Facts      []Fact                 `json:"facts"`         // in the order in which they matter
	Alerts     []Line                 `json:"alerts,omitempty"`
	Report     *Report                `json:"report,omitempty"`        // nil without one
	WorkOrder  int64                  `json:"work_order_id,omitempty"` // 0 = it is about none
	Link       string                 `json:"link"`                    // where to look and to acknowledge, "" when the service does not know its address
	Urgent     bool                   `json:"urgent"`
	Locale     rimewatch.Locale       `json:"locale,omitzero"` // in which the texts are written
	// Acknowledge is where the person who alone reads this acknowledges the alert without signing in, ""
	// = nowhere. It is made for one attempt and kept nowhere.
	Acknowledge string `json:"-"`
}

// Ref names something.
type Ref struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
	Slug string `json:"slug,omitempty"` // of a workspace, which names it in links
}

// Page returns the path of a page of a workspace.
func (r Ref) Page(path string) string {
	if r.Slug == "" {
		return path
	}
	return "/w/" + r.Slug + path
}

// Device is the unit that an alert is about.
type Device struct {
	ID            int64  `json:"id"`
	Serial        string `json:"serial"`
	Name          string `json:"name"`
	EquipmentType string `json:"equipment_type"`
}

// Site is where it stands.
type Site struct {
	ID       int64  `json:"id"`
	Name     string `json:"name"`
	TimeZone string `json:"timezone"`
	Address  string `json:"address"`
}

// Fact is one line of the summary.
type Fact struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

// Line is one alert of several.
type Line struct {
	ID       int64              `json:"id"` // of the alert; 0 stands for those that are left out
	SiteID   int64              `json:"site_id,omitempty"`
	Severity rimewatch.Severity `json:"severity"`
	Over     bool               `json:"over"`
	// Acknowledged is set where somebody has the alert already.
	Acknowledged bool   `json:"acknowledged,omitempty"`
	Text         string `json:"text"`
	Link         string `json:"link"`

	Acknowledge string `json:"-"` // as in Data
}

// Context are the facts that texts need besides the alert.
type Context struct {
	Key       string
	Workspace Ref
	Zone      *time.Location // of the alert's site
	Locale    rimewatch.Locale
	PublicURL string // without a slash at the end, "" = unknown
	Now       rimewatch.Time
	Alert     json.RawMessage     // as in the REST API
	Contacts  []rimewatch.Contact // of the alert's site
}

func (c *Context) message(event string, kind rimewatch.DeliveryKind) *Message {
	return &Message{Type: event, Timestamp: c.Now, Data: Data{
		DeliveryID: c.Key, Kind: kind, Workspace: c.Workspace, Alert: json.RawMessage("null"), Facts: []Fact{}, Locale: c.Locale,
	}}
}

func (c *Context) link(path string) string {
	if c.PublicURL == "" {
		return ""
	}
	return c.PublicURL + c.Workspace.Page(path)
}

func (c *Context) alertLink(id int64) string { return c.link(fmt.Sprintf("/alerts/%d", id)) }

// entitle sets the subject: a title after its tag.
func (d *Data) entitle(tag, title string) {
	d.Tag, d.Subject = tag, "["+tag+"] "+title
}

// Title is the subject without its tag.
func (d *Data) Title() string {
	if d.Tag == "" {
		return d.Subject
	}
	return strings.TrimPrefix(d.Subject, "["+d.Tag+"] ")
}

// Headline is the subject with the site of its unit: what stands alone in a list of
// mails, over a message or on a lock screen.
func (d *Data) Headline() string {
	if d.Site == nil || d.Device == nil {
		return d.Subject
	}
	return d.Subject + " – " + d.Site.Name
}

// Encode returns the JSON that is kept with a delivery.
func (m *Message) Encode() ([]byte, error) {
	b, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("message %s: %w", m.Data.DeliveryID, err)
	}
	return b, nil
}

// moreRoom is the room that the line for what is left out takes at most.
const moreRoom = "- and another 100000 more of them\n"

// Decode reads the result of Encode.
func Decode(b []byte) (*Message, error) {
	m := &Message{}
	if err := json.Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("message: %w", err)
	}
	return m, nil
}

// Plain is the message as text without a form: its sentences, its facts, its
// list, its link. The subject stands apart. Of a list so much is left out that
// the text has at most about limit bytes; 0 = no limit.
func (m *Message) Plain(limit int) string {
	var b strings.Builder
	d := &m.Data
	end := ""
	if d.Acknowledge != "" {
		end = "\n" + d.words().Say("Acknowledge without signing in:") + "\n" + d.Acknowledge + "\n"
	}
	if d.Link != "" {
		end += "\n" + d.Link + "\n"
	}
	if d.Text != "" {
		b.WriteString(d.Text + "\n")
	}
	if len(d.Facts) > 0 {
		b.WriteString("\n")
	}
	for _, f := range d.Facts {
		b.WriteString(f.Label + ": " + f.Value + "\n")
	}
	if len(d.Alerts) > 0 {
		b.WriteString("\n")
	}
	for i, l := range d.Alerts {
		if limit > 0 && b.Len()+len(l.Text)+len(end)+len(moreRoom) > limit {
			b.WriteString("- " + d.words().Sayf("and %d more", len(d.Alerts)-i) + "\n")
			break
		}
		b.WriteString("- " + l.Text + "\n")
		if l.Acknowledge != "" && limit == 0 {
			b.WriteString("  " + d.words().Say("Acknowledge") + ": " + l.Acknowledge + "\n")
		}
	}
	b.WriteString(end)
	return strings.TrimLeft(b.String(), "\n")
}
