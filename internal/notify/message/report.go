package message

import (
	"fmt"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Report is which report goes with a message. It is made when the message is sent.
type Report struct {
	SiteID   int64                  `json:"site_id"` // 0 = all sites
	Site     string                 `json:"site"`    // its name, "" = all sites
	Period   rimewatch.ReportPeriod `json:"period"`
	From     rimewatch.Time         `json:"from"`
	To       rimewatch.Time         `json:"to"` // the first moment after it
	TimeZone string                 `json:"timezone"`
}

// Zone returns the time zone by whose calendar the report is made, UTC for one that
// is not known.
func (r *Report) Zone() *time.Location { return rimewatch.ZoneOf(r.TimeZone) }

// File is the attachment of a message.
type File struct {
	Name, Type string
	Bytes      []byte
}

// MaxFileBytes is the largest file that is attached: many mail servers refuse more
// than 10 MB, and a mail takes four thirds of what it carries.
const MaxFileBytes = 7 << 20

// slowest is the rate, in bytes a second, at which a file has to be taken.
const slowest = 32 << 10

// Patience is how long the file of a message may take on its way to some receivers.
func (m *Message) Patience(receivers int) time.Duration {
	if m.File == nil {
		return 0
	}
	return time.Duration(receivers) * time.Second * time.Duration(1+len(m.File.Bytes)/slowest)
}

// Report returns the message that brings a report.
func (c *Context) Report(r *Report) *Message {
	m := c.message("report.scheduled", rimewatch.DeliveryReport)
	d := &m.Data
	w := c.words()
	place := r.Site
	if place == "" {
		place = c.Workspace.Name
	}
	first, last := w.Date(r.From.Std().In(r.Zone()), true), w.Date((r.To-1).Std().In(r.Zone()), true)
	d.Report = r
	d.Subject = w.Sayf("Temperature log: %s, %s to %s", place, first, last)
	d.Text = w.Say("The temperature log is attached as a PDF: daily values, every excursion and what was done about it.")
	if r.Site != "" {
		d.fact(w.Say("Site"), r.Site)
	} else {
		d.fact(w.Say("Sites"), w.Say("All sites"))
	}
	d.fact(w.Say("Period"), w.Sayf("%s to %s", first, last))
	d.fact(w.Say("Time zone"), r.TimeZone)
	site := "all"
	if r.SiteID != 0 {
		site = fmt.Sprint(r.SiteID)
	}
	d.Link = c.link("/reports?site=" + site + r.span())
	return m
}

// span is the report's period as the web UI has it in its address.
func (r *Report) span() string {
	first, last := r.From.Std().In(r.Zone()), (r.To - 1).Std().In(r.Zone())
	if r.Period == rimewatch.ReportMonthly {
		return "&month=" + first.Format("2006-01")
	}
	return "&from=" + first.Format(time.DateOnly) + "&to=" + last.Format(time.DateOnly)
}

// Attach adds a file to a message. Of one that is too large the text says where it is
// to be had.
func (m *Message) Attach(f *File) {
	if len(f.Bytes) <= MaxFileBytes {
		m.File = f
		return
	}
	w := m.Data.words()
	m.Data.Text = w.Sayf("The temperature log is too large for an e-mail (%d MB). Open Rimewatch and download it under Reports.", len(f.Bytes)>>20)
}
