package demo

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
	"github.com/rimewatch/rimewatch/internal/notify/webhook"
	"github.com/rimewatch/rimewatch/internal/phrase"
)

// News is something that happens between the service and the people of the
// market: a message that reaches somebody, or what somebody does.
type News struct {
	At   time.Time
	Who  string
	Text string
	Told bool // who was notified; otherwise who acted
}

// pager is a webhook receiver on this machine that stands for somebody's phone.
type pager struct {
	who, secret string
}

// The people of the market. Nils has the night; what he does not answer within
// a minute reaches Mara.
const (
	nightShift    = "Nils, night shift"
	manager       = "Mara, manager"
	escalateAfter = time.Minute
)

// shift are the people who are notified of alerts, and their reactions.
type shift struct {
	listener net.Listener
	server   *http.Server
	pagers   map[string]*pager // by path
	news     func(News)
	heard    chan heard
	closed   chan struct{}
}

// heard is a message that reached somebody.
type heard struct {
	pager *pager
	m     *message.Message
}

// newShift opens the receivers. What they hear goes to news.
func newShift(ctx context.Context, news func(News)) (*shift, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	if news == nil {
		news = func(News) {}
	}
	s := &shift{
		listener: listener, news: news, heard: make(chan heard, 64), closed: make(chan struct{}),
		pagers: map[string]*pager{
			"/night":   {who: nightShift, secret: newSecret()},
			"/manager": {who: manager, secret: newSecret()},
		},
	}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second}
	go func() {
		defer close(s.closed)
		_ = s.server.Serve(listener) // ends with close
	}()
	return s, nil
}

func (s *shift) close() {
	_ = s.server.Close()
	<-s.closed
}

// ServeHTTP takes a message as any receiver should: only with the signature
// that its secret makes.
func (s *shift) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := s.pagers[r.URL.Path]
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if p == nil || err != nil || !p.signed(r.Header, body) {
		http.Error(w, "not for us", http.StatusUnauthorized)
		return
	}
	m, err := message.Decode(body)
	if err != nil {
		http.Error(w, "no message", http.StatusBadRequest)
		return
	}
	s.news(News{At: time.Now(), Who: p.who, Text: m.Data.Subject, Told: true})
	select {
	case s.heard <- heard{p, m}:
	default: // nobody acts any more
	}
}

func (p *pager) signed(h http.Header, body []byte) bool {
	var seconds int64
	if _, err := fmt.Sscan(h.Get("Webhook-Timestamp"), &seconds); err != nil {
		return false
	}
	want, err := webhook.Sign(p.secret, h.Get("Webhook-Id"), time.Unix(seconds, 0), body)
	return err == nil && subtle.ConstantTimeCompare([]byte(want), []byte(h.Get("Webhook-Signature"))) == 1
}

// hire makes the channels and the route, before the first alert.
func (d *Demo) hire(ctx context.Context, workspaceID int64, now rimewatch.Time) error {
	steps := []rimewatch.RouteStep{}
	for _, path := range []string{"/night", "/manager"} {
		p := d.shift.pagers[path]
		c := rimewatch.Channel{
			WorkspaceID: workspaceID, Name: p.who, Kind: rimewatch.ChannelWebhook, Enabled: true,
			URL: "http://" + d.shift.listener.Addr().String() + path, Secret: p.secret, CreatedAt: now, UpdatedAt: now,
		}
		if err := d.app.Store.Routing().Channels().Create(ctx, &c); err != nil {
			return err
		}
		steps = append(steps, rimewatch.RouteStep{AfterS: len(steps) * int(escalateAfter.Seconds()), ChannelIDs: []int64{c.ID}})
	}
	route := rimewatch.Route{WorkspaceID: workspaceID, Name: "The shift, then the manager", Enabled: true, Steps: steps, Recovery: true, CreatedAt: now, UpdatedAt: now}
	return d.app.Store.Routing().Routes().Create(ctx, &route)
}

// act lets people answer what reaches them: Nils the first message about the
// power, after he has called the electrician; Mara, a little later, what nobody
// else answered about the fish. The rest is for whoever looks at the demo.
func (d *Demo) act(ctx context.Context) {
	plans := []struct {
		who, serial string
		about       rimewatch.AlertType
		after       time.Duration
		note        string
	}{
		{nightShift, d.serialOf(powerLoss), rimewatch.PowerLoss, 20 * time.Second, "Breaker has tripped, the electrician is on the way. Vaccines moved to the spare unit."},
		{manager, d.serialOf(doorOpen), rimewatch.HighTemperature, 30 * time.Second, "Calling the hall: someone has to close that door."},
	}
	due := make(chan int, len(plans))
	alerts := make([]int64, len(plans))
	for {
		select {
		case <-ctx.Done():
			return
		case h := <-d.shift.heard:
			for i, p := range plans {
				id, about := alertOf(h.m)
				if alerts[i] == 0 && h.pager.who == p.who && about == p.about && h.m.Data.Device != nil && h.m.Data.Device.Serial == p.serial && h.m.Data.Kind == rimewatch.DeliveryOpened {
					alerts[i] = id
					time.AfterFunc(p.after, func() { due <- i })
				}
			}
		case i := <-due:
			d.acknowledge(ctx, alerts[i], plans[i].who, plans[i].note)
		}
	}
}

func (d *Demo) acknowledge(ctx context.Context, alertID int64, who, note string) {
	name, _, _ := strings.Cut(who, ",")
	v, err := d.app.Ingest.Acknowledge(ctx, d.workspaceID, alertID, name, note, 0)
	if err != nil {
		return // it is over by now
	}
	d.shift.news(News{At: time.Now(), Who: name, Text: "acknowledges: " + phrase.In(rimewatch.Locale{}).Title(&v.Alert) + ". “" + note + "”"})
}

// alertOf is the alert that a message is about, 0 = none.
func alertOf(m *message.Message) (id int64, about rimewatch.AlertType) {
	var a struct {
		ID   int64               `json:"id"`
		Type rimewatch.AlertType `json:"type"`
	}
	if json.Unmarshal(m.Data.Alert, &a) != nil {
		return 0, ""
	}
	return a.ID, a.Type
}

func (d *Demo) serialOf(t trouble) string {
	for _, r := range d.residents {
		if r.trouble == t {
			return r.serial
		}
	}
	return ""
}

func newSecret() string {
	var key [32]byte
	_, _ = rand.Read(key[:]) // never fails
	return rimewatch.WebhookSecret(key)
}
