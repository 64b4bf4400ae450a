package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/event"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	pushapi "github.com/rimewatch/rimewatch/internal/httpapi/push"
	pressed "github.com/rimewatch/rimewatch/internal/httpapi/voice"
	"github.com/rimewatch/rimewatch/internal/notify"
	"github.com/rimewatch/rimewatch/internal/notify/email"
	"github.com/rimewatch/rimewatch/internal/notify/message"
	"github.com/rimewatch/rimewatch/internal/notify/outbound"
	"github.com/rimewatch/rimewatch/internal/notify/push"
	"github.com/rimewatch/rimewatch/internal/notify/service"
	"github.com/rimewatch/rimewatch/internal/notify/voice"
	"github.com/rimewatch/rimewatch/internal/notify/watchdog"
	"github.com/rimewatch/rimewatch/internal/notify/webhook"
	"github.com/rimewatch/rimewatch/internal/phrase"
	"github.com/rimewatch/rimewatch/internal/publish"
	"github.com/rimewatch/rimewatch/internal/report/gather"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// notifications builds the notification service.
func (a *App) notifications(ctx context.Context) error {
	allow, err := a.cfg.AllowedNetworks()
	if err != nil {
		return err
	}
	a.guard = outbound.New(allow)
	programs := webhook.New(a.guard, a.cfg.Version, a.cfg.Now)
	senders := map[rimewatch.ChannelKind]notify.Sender{
		rimewatch.ChannelWebhook: programs,
		rimewatch.ChannelService: service.New(a.guard),
	}
	if a.cfg.GuardServices && a.cfg.part == nil { // a node has done so
		service.Guard(a.guard)
	}
	keys, err := a.pushKeys(ctx)
	if err != nil {
		return err
	}
	if a.cfg.Push == nil {
		a.cfg.Push = a.guard.Client()
	}
	senders[rimewatch.ChannelPush] = push.New(push.Config{Client: a.cfg.Push, Keys: keys, Contact: a.contact(), Member: a.memberOf, Expired: a.expired})
	if a.mail != nil {
		senders[rimewatch.ChannelEmail] = a.mail
	}
	if a.cfg.PublicURL != "" {
		key, err := a.secret(ctx, voiceKey)
		if err != nil {
			return err
		}
		senders[rimewatch.ChannelCall] = voice.NewCaller(a.guard.Transport(), a.publicURL(), key, a.now)
	}
	links, err := a.secret(ctx, linkKey)
	if err != nil {
		return err
	}
	a.Notify = notify.New(notify.Config{
		Store: a.Store, Senders: senders, Post: programs, Newest: a.Store.EachDevice, Address: a.Accounts.Address, Report: a.reportFile, LinkKey: links[:],
		Now: a.cfg.Now, Logger: a.log,
	})
	return nil
}

// reportFile makes the file of a scheduled report.
func (a *App) reportFile(ctx context.Context, workspaceID int64, l rimewatch.Locale, r *message.Report) (*message.File, error) {
	zone := r.Zone()
	name, text, err := a.reports.PDF(ctx, &gather.Log{Workspace: workspaceID, SiteID: r.SiteID, From: r.From, To: r.To, Zone: zone, Words: phrase.In(l).At(zone)})
	if err != nil {
		return nil, err
	}
	return &message.File{Name: name, Type: httpapi.TypePDF, Bytes: text}, nil
}

// pushKeys returns the keys that notifications of browsers are signed with. Browsers
// know the public one: with another secret they would have to subscribe again.
func (a *App) pushKeys(ctx context.Context) (push.Keys, error) {
	secret, err := a.secret(ctx, "push")
	return push.KeysOf(secret), err
}

// contact is the sender's contact for push services; some refuse messages without one.
func (a *App) contact() string {
	if strings.HasPrefix(a.cfg.PublicURL, "https://") {
		return a.publicURL()
	}
	return "https://github.com/rimewatch/rimewatch"
}

// memberOf finds the person of an address in a workspace.
func (a *App) memberOf(ctx context.Context, workspaceID int64, email string) (rimewatch.Member, error) {
	u, err := a.Store.People().UserByEmail(ctx, email)
	var list []store.MembershipView
	if err == nil {
		list, err = a.Store.People().Memberships(ctx, u.ID)
	}
	if err != nil && rimewatch.CodeOf(err) != rimewatch.CodeNotFound {
		return rimewatch.Member{}, err
	}
	for i := range list {
		if m := &list[i]; m.WorkspaceID == workspaceID {
			return m.Member, nil
		}
	}
	return rimewatch.Member{}, rimewatch.Errorf(rimewatch.CodeNotFound, "The person is not a member any more.")
}

// expired deletes the channel of a device that has ended its subscription. One that
// routes use stays, and fails, so that people learn that nobody is notified there.
func (a *App) expired(ctx context.Context, c *rimewatch.Channel) {
	err := a.Store.Routing().Channels().Delete(ctx, c.WorkspaceID, c.ID)
	if err != nil && rimewatch.CodeOf(err) != rimewatch.CodeConflict {
		a.log.Error("device that has ended its subscription", "channel", c.ID, "err", err)
	}
}

// devices returns the part of the API by which people are notified on their devices.
func (a *App) devices(ctx context.Context) (httpapi.Part, error) {
	keys, err := a.pushKeys(ctx)
	return pushapi.Routes(pushapi.Config{Store: a.Store, Notifier: a.Notify, PublicKey: keys.Public}), err
}

// linkKey names the secret that signs the links in messages.
const linkKey = "links"

// voiceKey names the secret that signs the tickets of phone calls.
const voiceKey = "voice"

// publicURL is where people reach the service, without a slash at the end, "" = unknown.
func (a *App) publicURL() string { return strings.TrimSuffix(a.cfg.PublicURL, "/") }

// calls returns the part of the API that takes the keys pressed in phone calls.
func (a *App) calls(ctx context.Context) (httpapi.Part, error) {
	key, err := a.secret(ctx, voiceKey)
	return pressed.Routes(pressed.Config{Store: a.Store, Writer: a.Ingest, PublicURL: a.publicURL(), Key: key}), err
}

// setMail makes the sender of e-mail, where a mail server is configured.
func (a *App) setMail() (err error) {
	if a.cfg.SMTPHost == "" {
		return nil
	}
	a.mail, err = email.New(email.Config{
		Host: a.cfg.SMTPHost, Port: a.cfg.SMTPPort, Security: email.Security(a.cfg.SMTPTLS),
		Username: a.cfg.SMTPUser, Password: a.cfg.SMTPPassword, From: a.cfg.SMTPFrom,
	})
	return err
}

// letters sends the accounts' letters; nil when the service does not.
func (a *App) letters() func(context.Context, account.Letter) error {
	if a.mail == nil {
		return nil
	}
	return func(ctx context.Context, l account.Letter) error { return a.mail.Write(ctx, l.To, l.Subject, l.Text) }
}

// coverage finds the sites without anyone to notify of a critical alert that begins now.
func (a *App) coverage(ctx context.Context, workspaceID, userID int64) (wire.Coverage, error) {
	return notify.Coverage(ctx, a.Store, workspaceID, userID, a.now())
}

// escalation finds the recipients of an alert so far, and the next ones.
func (a *App) escalation(ctx context.Context, v *rimewatch.AlertView) (*wire.Escalation, error) {
	return notify.Escalation(ctx, a.Store, v, a.now())
}

// called finds who would be notified of a critical alert that begins now at a site.
func (a *App) called(ctx context.Context, workspaceID int64, site *rimewatch.Site) ([]wire.Call, error) {
	return notify.Called(ctx, a.Store, workspaceID, site, a.now())
}

// card writes a single alert for a page.
func (a *App) card(ctx context.Context, v *rimewatch.AlertView, l rimewatch.Locale) (wire.Card, error) {
	return notify.Card(ctx, a.Store, v, l, a.now())
}

// places changes sites and the workspace, whose time zones quiet hours go by: active
// alerts are planned again.
type places struct {
	*account.Service
	changed func(workspaceID int64)
}

// Sites implements v1.Accounts.
func (p places) Sites(by account.Principal) store.Resource[rimewatch.Site] {
	return plannedSites{p.Service.Sites(by), p.changed}
}

type plannedSites struct {
	store.Resource[rimewatch.Site]
	changed func(workspaceID int64)
}

// Update implements store.Resource.
func (s plannedSites) Update(ctx context.Context, workspaceID, id int64, change func(*rimewatch.Site) error) (rimewatch.Site, error) {
	x, err := s.Resource.Update(ctx, workspaceID, id, change)
	if err == nil {
		s.changed(workspaceID)
	}
	return x, err
}

// UpdateWorkspace implements v1.Accounts.
func (p places) UpdateWorkspace(ctx context.Context, by account.Principal, patch account.WorkspacePatch, now rimewatch.Time) (rimewatch.Workspace, error) {
	w, err := p.Service.UpdateWorkspace(ctx, by, patch, now)
	if err == nil {
		p.changed(by.WorkspaceID)
	}
	return w, err
}

// waker wakes notifications after commits that concern alerts or set the clock back.
type waker struct{ *notify.Service }

// Publish implements ingest.Publisher.
func (w waker) Publish(p *publish.Commit) {
	switch {
	case p.SetBack != 0:
		w.SetBack(p.SetBack)
	case len(p.Alerts) > 0:
		w.Wake()
	}
}

// teller passes commits with events to the followers of events.
type teller struct{ *event.Feed }

// Publish implements ingest.Publisher.
func (t teller) Publish(p *publish.Commit) {
	if p.Happened {
		t.Wake()
	}
}

// runWatchdog calls the outside watchdog, if there is one, until ctx ends.
func (a *App) runWatchdog(ctx context.Context) {
	if a.cfg.WatchdogURL == "" || a.cfg.part != nil && a.cfg.part.number != 0 {
		return
	}
	watchdog.New(watchdog.Config{
		URL: a.cfg.WatchdogURL, Interval: a.cfg.WatchdogInterval, Guard: a.guard, Logger: a.log,
		Well: func() error { return a.well(ctx) },
	}).Run(ctx)
}

// quietStore is for how long nothing may be written to the store, which is alive
// every few seconds, before something is wrong with it.
const quietStore = 30 * rimewatch.Second

// well returns the error that keeps the service from doing its work: storing readings,
// judging it, notifying people.
func (a *App) well(ctx context.Context) error {
	at, err := a.Store.AliveAt(ctx)
	if err != nil {
		return err
	}
	if silent := a.now() - at; silent > quietStore {
		return fmt.Errorf("nothing was written for %d s", silent/rimewatch.Second)
	}
	if err := a.ready(ctx); err != nil {
		return err
	}
	return a.Notify.Stuck()
}

// deliveries are the metrics of notifications.
type deliveries struct {
	figures                                            func() notify.Figures
	now                                                func() rimewatch.Time
	total, attempts, failures, pending, oldest, failed *prometheus.Desc
	unrouted, untold                                   *prometheus.Desc
}

func newDeliveries(figures func() notify.Figures, now func() rimewatch.Time) *deliveries {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("rimewatch_notify_"+name, help, labels, nil)
	}
	return &deliveries{
		figures: figures, now: now,
		total:    desc("deliveries_total", "Deliveries that came to an end.", "kind", "status"),
		attempts: desc("attempts_total", "Attempts to hand a message to its receiver."),
		failures: desc("attempt_failures_total", "Attempts that failed."),
		pending:  desc("pending_deliveries", "Deliveries that wait or are under way."),
		oldest:   desc("oldest_pending_seconds", "Age of the oldest of them, 0 without any."),
		failed:   desc("failing_channels", "Channels whose last attempt failed."),
		unrouted: desc("unrouted_alerts", "Active critical alerts that no route brings to anybody; they went to every channel that works."),
		untold:   desc("untold_alerts", "Active critical alerts that nobody could be notified of."),
	}
}

// Describe implements prometheus.Collector. It names all of them, also those that there is
// no figure of yet: a registry knows a collector again by what it describes.
func (d *deliveries) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{d.total, d.attempts, d.failures, d.pending, d.oldest, d.failed} {
		ch <- desc
	}
}

// Collect implements prometheus.Collector.
func (d *deliveries) Collect(ch chan<- prometheus.Metric) {
	f := d.figures()
	for k, n := range f.Deliveries {
		ch <- prometheus.MustNewConstMetric(d.total, prometheus.CounterValue, float64(n), string(k.Kind), string(k.Status))
	}
	ch <- prometheus.MustNewConstMetric(d.attempts, prometheus.CounterValue, float64(f.Attempts))
	ch <- prometheus.MustNewConstMetric(d.failures, prometheus.CounterValue, float64(f.Failures))
	ch <- prometheus.MustNewConstMetric(d.pending, prometheus.GaugeValue, float64(f.Pending))
	age := 0.0
	if f.OldestPending != 0 {
		age = d.now().Sub(f.OldestPending).Seconds()
	}
	ch <- prometheus.MustNewConstMetric(d.oldest, prometheus.GaugeValue, age)
	ch <- prometheus.MustNewConstMetric(d.failed, prometheus.GaugeValue, float64(f.Failing))
	ch <- prometheus.MustNewConstMetric(d.unrouted, prometheus.GaugeValue, float64(f.Unrouted))
	ch <- prometheus.MustNewConstMetric(d.untold, prometheus.GaugeValue, float64(f.Untold))
}
