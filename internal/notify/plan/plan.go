package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
)

// OfflineWait is how long a device's silence waits for the site's to explain it.
const OfflineWait = 2 * rimewatch.Minute

// Rules are a workspace's rules of notification.
type Rules struct {
	Routes      []rimewatch.Route
	Channels    []rimewatch.Channel
	Silences    []rimewatch.Silence           // also ended ones that overlap the alert's time
	Maintenance []rimewatch.MaintenanceWindow // likewise
	Members     []Member                      // by Email
	Rotas       []Rota
	Contacts    []rimewatch.Contact
}

// Rota is a rota with the clock that it goes by.
type Rota struct {
	rimewatch.Rota
	Zone *time.Location
}

// Member are the facts of a person that decide about the person's notifications.
type Member struct {
	UserID int64
	Name   string // or, without one, the address
	Email  string // as rimewatch.EmailKey has it
	Role   rimewatch.Role
	Sites  rimewatch.Sites // that the person is limited to, nil = all
}

// Input is everything that a decision about one alert rests on.
type Input struct {
	Alert    *rimewatch.AlertView
	Timeline []rimewatch.AlertTransition // oldest first
	Made     []rimewatch.Delivery        // deliveries of the alert, oldest first
	Rules    *Rules
	UnderWay map[int64]bool // ids of those that are being sent
	Zone     *time.Location // of the alert's site
	Now      rimewatch.Time
}

// Wanted is a delivery to be made. ID and Body are left to the caller.
type Wanted struct {
	rimewatch.Delivery
	After string // what ended before a reminder: "acknowledgement", "silence", "" = time; of an unrouted alert: "refused" where its route's channels take nothing
}

// Result is a decision.
type Result struct {
	Wanted []Wanted
	Drop   []int64        // ids of pending deliveries that have become pointless
	Next   rimewatch.Time // when to look again if nothing happens, 0 = never
	Ahead  Ahead          // who is notified next unless somebody acknowledges
	Waits  bool           // for a message under way, whose result decides who is to be notified

	Unrouted bool // the alert is critical, and no route brings it to a channel that is switched on
	Untold   bool // the alert is critical, and nobody was or will be notified of it
}

// Ahead is the level that is notified next, of several routes the earliest.
type Ahead struct {
	At       rimewatch.Time // 0 = none
	Channels []int64
}

// Alert decides about one alert.
func Alert(in *Input) Result {
	p := decision{Input: in, a: &in.Alert.Alert, channels: in.Rules.enabled(in.Alert)}
	p.readTimeline()
	p.readMade()
	if p.a.Status == rimewatch.AlertResolved {
		p.recovery()
		return p.out
	}
	if p.a.SuppressedBy != 0 {
		return p.out
	}
	if p.mutedUntil() != 0 {
		return p.out
	}
	matching := in.Rules.matching(in.Alert)
	for i, r := range matching {
		matching[i] = p.found(r)
	}
	for _, r := range matching {
		p.route(r)
	}
	p.unrouted(matching)
	return p.out
}

// enabled are the ids of the channels that are switched on and may bring an alert.
func (r *Rules) enabled(v *rimewatch.AlertView) map[int64]bool {
	on := make(map[int64]bool, len(r.Channels))
	for i := range r.Channels {
		if c := &r.Channels[i]; c.Enabled && r.mayKnow(c, v) {
			on[c.ID] = true
		}
	}
	return on
}

// mayKnow reports whether a channel may bring an alert: the phone of a person who is limited to
// sites gets no alerts of others.
func (r *Rules) mayKnow(c *rimewatch.Channel, v *rimewatch.AlertView) bool {
	m := r.Owner(c)
	if c.OwnerID != 0 {
		return m != nil && m.Sites.Has(siteOf(v)) // a former member is not notified
	}
	if c.Kind != rimewatch.ChannelPush {
		return true
	}
	return m == nil || m.Sites.Has(siteOf(v)) // a former member is refused by the sender, visibly
}

// Owner returns the member who is the only reader of a channel, nil = none.
func (r *Rules) Owner(c *rimewatch.Channel) *Member {
	if c.OwnerID != 0 {
		if i := slices.IndexFunc(r.Members, func(m Member) bool { return m.UserID == c.OwnerID }); i >= 0 {
			return &r.Members[i]
		}
		return nil
	}
	if len(c.To) != 1 {
		return nil
	}
	i, found := slices.BinarySearchFunc(r.Members, rimewatch.EmailKey(c.To[0]), func(m Member, email string) int { return strings.Compare(m.Email, email) })
	if !found {
		return nil
	}
	return &r.Members[i]
}

// matching are the routes that apply to an alert.
func (r *Rules) matching(v *rimewatch.AlertView) (list []*rimewatch.Route) {
	for _, x := range r.routes() {
		if x.Enabled && Matches(&x.Match, v) {
			list = append(list, x)
		}
	}
	return list
}

// routes are the workspace's, or the default route where it has none.
func (r *Rules) routes() []*rimewatch.Route {
	if len(r.Routes) == 0 {
		d := &rimewatch.Route{Enabled: true, Recovery: true, Steps: []rimewatch.RouteStep{{}}}
		for i := range r.Channels {
			if r.Channels[i].Enabled {
				d.Steps[0].ChannelIDs = append(d.Steps[0].ChannelIDs, r.Channels[i].ID)
			}
		}
		return []*rimewatch.Route{d}
	}
	out := make([]*rimewatch.Route, len(r.Routes))
	for i := range r.Routes {
		out[i] = &r.Routes[i]
	}
	return out
}

// decision is one decision in the making.
type decision struct {
	*Input
	a        *rimewatch.Alert
	channels map[int64]bool // enabled ones
	made     []rimewatch.Delivery
	out      Result

	everCritical bool
	escalatedAt  rimewatch.Time // last rise to critical, 0 = none
	escalations  int
	ackExpiredAt rimewatch.Time
	episode      int
	mutedEndAt   rimewatch.Time // last end of a silence, maintenance or explanation
}

func (p *decision) readTimeline() {
	p.everCritical = p.a.Severity == rimewatch.Critical
	for i := range p.Timeline {
		t := &p.Timeline[i]
		p.everCritical = p.everCritical || t.Severity == rimewatch.Critical
		switch t.Kind {
		case rimewatch.TransitionEscalated:
			p.escalatedAt, p.escalations = t.At, p.escalations+1
		case rimewatch.TransitionAckExpired:
			p.ackExpiredAt, p.episode = t.At, p.episode+1
		case rimewatch.TransitionReleased:
			p.mutedEndAt = max(p.mutedEndAt, t.At)
		default: // no change of recipients
		}
		if changesMatch(t.Kind) && p.leavesMute(i) {
			p.mutedEndAt = max(p.mutedEndAt, t.At)
		}
	}
	for i := range p.Rules.Silences {
		if s := &p.Rules.Silences[i]; s.StartsAt < s.EndsAt && Matches(&s.Match, p.at(s.EndsAt)) {
			p.readMute(s.EndsAt)
		}
	}
	for i := range p.Rules.Maintenance {
		if w := &p.Rules.Maintenance[i]; w.StartsAt < w.EndsAt && covers(w, p.at(w.EndsAt)) {
			p.readMute(w.EndsAt)
		}
	}
}

// changesMatch reports whether a line of the timeline changes what matchers see of an
// alert: its severity, its device's site or type.
func changesMatch(k rimewatch.TransitionKind) bool {
	return k == rimewatch.TransitionMoved || k == rimewatch.TransitionEscalated || k == rimewatch.TransitionDeescalated
}

// after returns the alert as matchers saw it after the first n lines of its timeline.
func (p *decision) after(n int) *rimewatch.AlertView {
	if n == len(p.Timeline) {
		return p.Input.Alert
	}
	v := *p.Input.Alert
	for _, t := range slices.Backward(p.Timeline[n:]) {
		if t.From == nil {
			continue
		}
		v.Site = nil
		if t.From.SiteID != 0 {
			v.Site = &rimewatch.Site{ID: t.From.SiteID}
		}
		v.EquipmentType = cmp.Or(t.From.EquipmentType, v.EquipmentType)
	}
	if n > 0 {
		v.Severity = p.Timeline[n-1].Severity
	}
	return &v
}

// at returns the alert as matchers saw it right before a moment.
func (p *decision) at(t rimewatch.Time) *rimewatch.AlertView {
	n := len(p.Timeline)
	for n > 0 && p.Timeline[n-1].At >= t {
		n--
	}
	return p.after(n)
}

// leavesMute reports whether the i-th line of the timeline took the alert out of the
// silences and maintenance windows of its moment: as if they had ended then.
func (p *decision) leavesMute(i int) bool {
	at := p.Timeline[i].At
	return p.Rules.MutedUntil(p.after(i), at) != 0 && p.Rules.MutedUntil(p.after(i+1), at) == 0
}

// readMute takes the end of a silence or maintenance window: it counts once it
// has passed, and is a moment to look at until then.
func (p *decision) readMute(end rimewatch.Time) {
	switch {
	case end <= p.a.TriggeredAt:
	case end <= p.Now:
		p.mutedEndAt = max(p.mutedEndAt, end)
	case p.a.Status == rimewatch.AlertActive && p.a.SuppressedBy == 0:
		p.lookAt(end)
	}
}

// readMade takes over the deliveries that were sent or wait.
func (p *decision) readMade() {
	p.made = make([]rimewatch.Delivery, 0, len(p.Made)+4)
	for i := range p.Made {
		switch p.Made[i].Kind {
		case rimewatch.DeliveryOpened, rimewatch.DeliveryEscalated, rimewatch.DeliveryRepeat, rimewatch.DeliveryRecovery, rimewatch.DeliveryUnrouted:
			p.made = append(p.made, p.Made[i])
		default: // not of this alert alone
		}
	}
}

func (p *decision) lookAt(t rimewatch.Time) {
	if p.out.Next == 0 || t < p.out.Next {
		p.out.Next = t
	}
}

// mutedUntil returns when the first of the silences and maintenance windows ends
// that hold the alert back now, 0 = none does.
func (p *decision) mutedUntil() rimewatch.Time {
	return p.Rules.MutedUntil(p.Input.Alert, p.Now)
}

// MutedUntil returns when the first of the silences and maintenance windows ends
// that hold an alert back, 0 = none does.
func (r *Rules) MutedUntil(v *rimewatch.AlertView, now rimewatch.Time) (until rimewatch.Time) {
	within := func(from, to rimewatch.Time) bool { return from <= now && now < to }
	for i := range r.Silences {
		if s := &r.Silences[i]; within(s.StartsAt, s.EndsAt) && Matches(&s.Match, v) && (until == 0 || s.EndsAt < until) {
			until = s.EndsAt
		}
	}
	for i := range r.Maintenance {
		if w := &r.Maintenance[i]; within(w.StartsAt, w.EndsAt) && covers(w, v) && (until == 0 || w.EndsAt < until) {
			until = w.EndsAt
		}
	}
	return until
}

// want adds a delivery to the decision and to those made.
func (p *decision) want(kind rimewatch.DeliveryKind, r *rimewatch.Route, level, n int, channel int64, at rimewatch.Time, after string) {
	d := rimewatch.Delivery{
		WorkspaceID: p.a.WorkspaceID, AlertID: p.a.ID, ChannelID: channel, RouteID: r.ID, Level: level, Kind: kind,
		Key:    fmt.Sprintf("alert/%d/%d/%s/%d/%d/%d/%d", p.a.ID, p.episode, kind, r.ID, level, n, channel),
		Status: rimewatch.DeliveryPending, NextAttemptAt: at, CreatedAt: p.Now,
		Urgent: p.a.Severity == rimewatch.Critical && kind != rimewatch.DeliveryRecovery,
	}
	p.out.Wanted = append(p.out.Wanted, Wanted{d, after})
	p.made = append(p.made, d)
}

// Matches reports whether matchers are about an alert.
func Matches(m *rimewatch.Matchers, v *rimewatch.AlertView) bool {
	return oneOf(m.Severities, v.Severity) && oneOf(m.Types, v.Type) && oneOf(m.SiteIDs, siteOf(v)) &&
		oneOf(m.EquipmentTypes, v.EquipmentType) && oneOf(m.DeviceIDs, v.DeviceID)
}

func oneOf[T comparable](list []T, v T) bool { return len(list) == 0 || slices.Contains(list, v) }

func siteOf(v *rimewatch.AlertView) int64 {
	if v.Site != nil {
		return v.Site.ID
	}
	return v.SiteID
}

func covers(w *rimewatch.MaintenanceWindow, v *rimewatch.AlertView) bool {
	if len(w.SiteIDs) == 0 && len(w.DeviceIDs) == 0 {
		return true
	}
	return slices.Contains(w.SiteIDs, siteOf(v)) || (v.DeviceID != 0 && slices.Contains(w.DeviceIDs, v.DeviceID))
}
