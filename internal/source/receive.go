package source

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/inlet"
	"github.com/rimewatch/rimewatch/internal/limit"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Outcome is what became of a payload.
type Outcome struct {
	Accepted   int `json:"accepted" doc:"Readings that were stored."`
	Duplicates int `json:"duplicates" doc:"Readings that had been stored before."`
	Held       int `json:"held" doc:"Senders whose readings wait for somebody to accept the device."`
	Rejected   int `json:"rejected" doc:"Readings that cannot be stored."`
	Ignored    int `json:"ignored" doc:"Messages of a kind that measures nothing, such as joins; left_out has why."`
	Vitals     int `json:"vitals" doc:"Messages of known devices that only say something of the device, such as its battery."`
	Retained   int `json:"retained" doc:"Retained messages of a broker without a time of their own: they may be of any age and are not stored."`
	Unreadable int `json:"unreadable" doc:"How many of those that wait sent no measurement that can be read: they will have to send another one."`
	// Problems are as Sentence.Stored returns them; In writes them.
	Problems []string `json:"problems" doc:"Why something waits or was rejected, the first ten."`
	// LeftOut is what known senders sent that is no measurement.
	LeftOut []LeftOut `json:"left_out" doc:"What was not stored, the first ten: values that are not a number, out of range or what broken sensors report, another temperature than the one that was read, a name that came twice, messages in which nothing was recognised, and those that measure nothing."`

	Created bool `json:"-"` // as inlet.Template.Created
	leftOut int  // how many they were
	full    bool // something would have had to wait and could not
}

func newOutcome() Outcome { return Outcome{Problems: []string{}, LeftOut: []LeftOut{}} }

func (o *Outcome) problem(format string, args ...any) {
	const most = 10
	if len(o.Problems) < most {
		o.Problems = append(o.Problems, why(format, args...))
	}
}

// err is what a sender is answered when nothing of what it sent was of use.
func (o *Outcome) err() error {
	switch {
	case o.full:
		return rimewatch.ErrHeldFull()
	case o.Accepted+o.Duplicates+o.Held+o.Ignored+o.Vitals+o.Retained > 0 || o.Rejected == 0:
		return nil
	}
	e := rimewatch.Errorf(rimewatch.CodeValidationFailed, "Nothing of this could be stored.")
	for _, p := range o.Problems {
		e = e.With("payload", "%s", rimewatch.SentenceOf(p))
	}
	return e
}

// Receive stores what a payload means and returns when that is durable.
// CodeInvalidJSON for what is no payload at all, CodeValidationFailed when
// nothing of it can be stored, CodeHeldFull, CodeUnavailable.
func (s *Service) Receive(ctx context.Context, l *Live, p *inlet.Payload) (Outcome, error) {
	results, err := s.ReceiveAll(ctx, l, []*inlet.Payload{p})
	if err != nil {
		return Outcome{}, err
	}
	return results[0].Outcome, results[0].Err
}

// Result is what became of one payload of several.
type Result struct {
	Outcome
	Err error // nil, CodeInvalidJSON, CodeValidationFailed or CodeHeldFull
}

// ReceiveAll stores payloads of a source, in their order and in one step. Its
// error means that some of them may not be stored; sending all of them again is
// safe.
func (s *Service) ReceiveAll(ctx context.Context, l *Live, list []*inlet.Payload) ([]Result, error) {
	now := store.ArrivedAt(ctx, s.cfg.Now())
	results := make([]Result, len(list))
	batches := make([]*batch, len(list))
	for i, p := range list {
		p.Received = now
		results[i].Outcome = newOutcome()
		batches[i] = s.batch(l, now)
		results[i].Err = batches[i].read(ctx, p, &results[i].Outcome)
	}
	err := s.store(ctx, l, batches, func(i int, _ string) *rimewatch.Held { return heldPayload(list[i]) })
	for i, b := range batches {
		if err == nil {
			b.finish(&results[i].Outcome)
			results[i].Err = cmp.Or(results[i].Err, results[i].err())
		}
		s.count(&l.source, &results[i].Outcome, cmp.Or(err, results[i].Err))
	}
	return results, err
}

// read decides what becomes of a payload: CodeInvalidJSON for what is none and comes from
// somebody who hears of that. What comes over MQTT waits with its text.
func (b *batch) read(ctx context.Context, p *inlet.Payload, o *Outcome) error {
	b.retained = p.Retained
	r := b.s.decode(b.l, p)
	o.Created = r.Created
	switch {
	case r.Ignored != "":
		o.Ignored++
		o.leaveOut(LeftOut{Value: shown(cmp.Or(p.Topic, string(p.Body[:min(len(p.Body), mostSaid)]))), Reason: r.Ignored})
		return nil
	case r.Problem != "" && p.Retained:
		o.Retained++
	case r.Malformed && p.Topic == "":
		o.leaveOut(LeftOut{Value: shown(string(p.Body[:min(len(p.Body), mostSaid)])), Reason: r.Problem})
		return rimewatch.Errorf(rimewatch.CodeInvalidJSON, "%s", rimewatch.SentenceOf(r.Problem))
	case r.Problem != "":
		b.hold(o, p.Topic, "", r.Problem)
	}
	b.all(ctx, r.Items, o)
	return nil
}

// shown is what people are shown of what was sent.
func shown(text string) string {
	const most = 40
	const bytes = most * utf8.UTFMax
	if r := []rune(strings.ToValidUTF8(text[:min(len(text), bytes)], "")); len(r) > most {
		return string(r[:most]) + "…"
	}
	return strings.ToValidUTF8(text, "")
}

// decode maps a payload by the source's template.
func (s *Service) decode(l *Live, p *inlet.Payload) *inlet.Result {
	p.Zone = l.zone
	if l.mapper == nil {
		return s.Library.Decode(p, s.bound(l))
	}
	return l.mapper.Decode(p, s.bound(l))
}

func heldPayload(p *inlet.Payload) *rimewatch.Held {
	q := url.Values{}
	for k, v := range p.Query {
		q.Set(k, v)
	}
	return &rimewatch.Held{ReceivedAt: p.Received, Topic: p.Topic, Query: q.Encode(), Body: p.Body}
}

// batch is what is to be stored together of one payload.
type batch struct {
	s   *Service
	l   *Live
	now rimewatch.Time
	// retained is true for what a broker had kept, nobody knows for how long.
	retained bool
	// replayed is true for what waited: its times say nothing about now.
	replayed bool

	inputs []store.Input
	names  []string          // what the senders of the inputs call themselves
	at     map[momentKey]int // input of a device and time
	vitals []store.Vitals
	kept   []*rimewatch.Held // in the order of order; none in a replay
	oldest rimewatch.Time    // that is stored; 0 = not asked yet
	// unsettled refuses all of it for the moment: it may be from the time that the
	// service is about to adopt.
	unsettled *rimewatch.Error
	held      map[string]*waiting
	order     []string
	settled   []settled
	unset     []unset
	timed     map[int64]bool // devices of which the payload has a reading with a time
	again     int            // readings without a time that came again
	arrived   rimewatch.Time // when what is replayed came
	// linewise is true for lines, of which most that measure nothing are of no sensor.
	linewise bool
}

type momentKey struct {
	device int64
	at     rimewatch.Time
}

// waiting is why something of a sender has to wait: reason is as Sentence.Stored returns it.
type waiting struct{ label, reason string }

func (s *Service) batch(l *Live, now rimewatch.Time) *batch {
	return &batch{s: s, l: l, now: now, at: make(map[momentKey]int), held: make(map[string]*waiting)}
}

// hold has a sender wait, unless whoever sends for it may not have anything wait: what
// waits is the whole workspace's.
func (b *batch) hold(o *Outcome, id, label, reason string) {
	if b.l.opener.Sites != nil {
		o.Rejected++
		o.problem("%s: %s", id, rimewatch.SentenceOf(reason))
		return
	}
	if b.held[id] == nil {
		b.held[id] = &waiting{label, reason}
		b.order = append(b.order, id)
	}
}

// all decides about the items of a payload.
func (b *batch) all(ctx context.Context, items []inlet.Item, o *Outcome) {
	for i := range items {
		b.take(ctx, &items[i], o)
	}
	b.settleTimes(o)
}

// take decides about an item.
func (b *batch) take(ctx context.Context, x *inlet.Item, o *Outcome) {
	id := nameOf(x)
	if b.retained && x.At == 0 && x.Unset == "" {
		o.Retained++
		return
	}
	if x.Problem != "" {
		b.hold(o, id, x.Label, x.Problem)
		return
	}
	for i := range x.Readings {
		r := &x.Readings[i]
		if x.Split && r.Serial == "" { // its sensors are senders of their own
			o.leaveOutOf(id, r)
			o.leaveOutRest(id, r)
			continue
		}
		who, reason := b.who(ctx, x, r)
		switch {
		case who != nil:
			b.known(ctx, x, r, who, o)
		case reason == refused:
			o.Rejected++
			o.problem("%s: no device is registered for this sender", id)
		case b.linewise && r.Empty() && unread(r) == "" && x.Device == (inlet.Device{}):
			o.leaveOut(LeftOut{ExternalID: id, Reason: why("no measurement was recognised")})
		default:
			b.hold(o, id, x.Label, b.whyHeld(x, r, reason, o))
		}
	}
}

// nameOf returns the name of a waiting sender.
func nameOf(x *inlet.Item) string { return inlet.NameOf(cmp.Or(x.ID, nameless), x.Part) }

// whyHeld adds to why a sender waits what is wrong with what it sent.
func (b *batch) whyHeld(x *inlet.Item, r *inlet.Reading, reason string, o *Outcome) string {
	text := unread(r)
	switch {
	case text != "":
		o.Unreadable++
	case r.Empty() && x.Device == (inlet.Device{}):
		text = why("no measurement was recognised")
	case x.Unset != "":
		text = x.Unset
	default:
		return reason
	}
	return why("%s, and %s", rimewatch.SentenceOf(reason), rimewatch.SentenceOf(text))
}

// known takes a reading of a known device.
func (b *batch) known(ctx context.Context, x *inlet.Item, r *inlet.Reading, who *store.Identity, o *Outcome) {
	id := nameOf(x)
	vitals := x.Device != (inlet.Device{})
	if d := &x.Device; vitals || x.Habit != "" {
		b.vitals = append(b.vitals, store.Vitals{DeviceID: who.ID, Heartbeat: rimewatch.Heartbeat{BatteryPct: d.BatteryPct, BatteryLow: d.BatteryLow, BatteryLowPct: x.BatteryLowPct, RSSI: d.RSSI, FirmwareVersion: d.Firmware, Habit: x.Habit}})
	}
	if c := b.s.cfg.Clock; c != nil && x.At != 0 && !b.retained && !b.replayed {
		c.Saw(uint64(who.ID), x.At, b.now)
	}
	outside, err := b.outside(ctx, x.At)
	if err != nil {
		b.hold(o, id, x.Label, why("the workspace could not be read"))
		return
	}
	leftOut := o.leaveOutOf(id, r)
	switch {
	case r.Empty():
		if vitals {
			o.Vitals++
		} else if !leftOut && !x.Split {
			o.leaveOut(LeftOut{ExternalID: id, Reason: why("no measurement was recognised")})
		}
		return
	case outside != "":
		b.unset = append(b.unset, unset{who, r.Reading, id, x.At.String(), x.At, outside})
	case x.Unset != "":
		b.unset = append(b.unset, unset{who, r.Reading, id, x.Stamp, x.Shown, x.Unset})
	default:
		if x.At != 0 {
			if b.timed == nil {
				b.timed = make(map[int64]bool)
			}
			b.timed[who.ID] = true
		}
		b.add(id, who, &r.Reading)
	}
	b.settle(x, r, who)
}

const refused = "refused"

// unread returns why a reading without a measurement has none, where something was sent
// that should have been one; "" otherwise.
func unread(r *inlet.Reading) string {
	if !r.Empty() {
		return ""
	}
	for i := range r.Fields {
		if f := &r.Fields[i]; f.LeftOut() {
			return why("%s %s", f.Name, rimewatch.SentenceOf(f.Problem))
		}
	}
	return ""
}

// who finds the device of a reading, or says why there is none.
func (b *batch) who(ctx context.Context, x *inlet.Item, r *inlet.Reading) (*store.Identity, string) {
	src, id, opener := &b.l.source, inlet.NameOf(x.ID, x.Part), &b.l.opener
	if r.Serial != "" {
		who := b.s.cfg.Store.Identify(src.WorkspaceID, []byte(r.Serial))
		switch {
		case who != nil && opener.may(who):
			return who, ""
		case opener.Sites != nil:
			return nil, refused
		}
		return nil, why("the device %s, to which the sender is bound, does not exist", r.Serial)
	}
	if rimewatch.ValidSerial(id) {
		if who := b.s.cfg.Store.Identify(src.WorkspaceID, []byte(id)); who != nil && opener.may(who) {
			return who, ""
		}
	}
	if opener.Sites != nil { // who is limited to sites registers nothing, and learns of no other device
		return nil, refused
	}
	switch on, err := onUnknown(ctx, src, b.s.workspace); {
	case err != nil:
		return nil, why("the workspace could not be read")
	case on == rimewatch.RefuseUnknown:
		return nil, refused
	case x.ID == "":
		return nil, why("the payload does not say which sensor it is from: nothing near its top names one, or several things do; only a source with one sensor may be bound as a whole")
	case on == rimewatch.HoldUnknown || r.Empty() || x.Unset != "":
		return nil, why("no device is bound to this sender")
	case x.Part != "" && len(b.s.bound(b.l)(x.ID, "")) > 0:
		return nil, why("this is another sensor of a sender whose device is known: accept it as one of its own")
	}
	if rimewatch.NameFrom(id) == "" {
		return nil, why("what the sender calls itself has no character that can be shown")
	}
	who, err := b.s.register(ctx, src, id, x.Label)
	if err != nil {
		return nil, why("the device could not be registered: %s", clipped(err))
	}
	return who, ""
}

// outside returns the complaint about the time of a reading, "" = none. One from
// the time that the service is about to adopt makes the batch unsettled.
func (b *batch) outside(ctx context.Context, at rimewatch.Time) (string, error) {
	if b.oldest == 0 {
		w, err := b.s.workspace(ctx, b.l.source.WorkspaceID)
		if err != nil {
			return "", err
		}
		b.oldest = b.now - rimewatch.Time(w.RawDays)*rimewatch.Day
	}
	switch {
	case at == 0:
	case at > b.now+rimewatch.FutureTolerance:
		if c := b.s.cfg.Clock; c != nil && b.unsettled == nil {
			b.unsettled = rimewatch.Settling(at, b.now, c.Gap())
		}
		return why("is more than 5 minutes in the future"), nil
	case at < b.oldest:
		return why("is before the time for which readings are kept"), nil
	}
	return "", nil
}

// add adds a reading; what one payload says of a device and a moment in several
// places is one reading.
func (b *batch) add(id string, who *store.Identity, r *rimewatch.Reading) {
	if r.At != 0 {
		key := momentKey{who.ID, r.At}
		if i, ok := b.at[key]; ok && r.Conflicts(&b.inputs[i].Reading) == 0 && !sameAs(r, &b.inputs[i].Reading) {
			into := &b.inputs[i].Reading
			for f, v := range r.All() {
				if !into.Present.Has(f) {
					into.Set(f, v)
				}
			}
			into.Faults |= r.Faults
			into.Flags |= r.Flags
			return
		} else if !ok {
			b.at[key] = len(b.inputs)
		}
	}
	b.names = append(b.names, id)
	b.inputs = append(b.inputs, store.Input{Kind: store.InputReading, DeviceID: who.ID, Reading: *r, AtArrival: r.At == 0})
}

// sameAs reports whether all of a reading is in another of the same moment.
func sameAs(r, other *rimewatch.Reading) bool {
	left := r.Without(other)
	return left.Empty()
}

// store stores the readings of batches in one step, then keeps the payloads that have to wait.
// payload returns the payload to keep of a sender in batch number i; nil = none.
func (s *Service) store(ctx context.Context, l *Live, list []*batch, payload func(i int, id string) *rimewatch.Held) error {
	for _, b := range list {
		if b.unsettled != nil {
			return b.unsettled
		}
	}
	all, vitals := list[0].inputs, list[0].vitals
	if len(list) > 1 {
		all, vitals = nil, nil
		for _, b := range list {
			all, vitals = append(all, b.inputs...), append(vitals, b.vitals...)
		}
	}
	var held []*rimewatch.Held
	for i, b := range list {
		at := b.now
		if len(b.order) > 0 && !b.replayed {
			at = s.distinct(&l.source, at)
		}
		for _, id := range b.order {
			if h := payload(i, id); h != nil {
				if !b.replayed {
					h.ReceivedAt = at
				}
				h.SourceID, h.ExternalID, h.Label, h.Reason = l.source.ID, id, b.held[id].label, b.held[id].reason
				b.kept = append(b.kept, h)
			}
		}
		held = append(held, b.kept...)
	}
	if len(all)+len(vitals) > 0 {
		if err := s.cfg.Writer.Submit(ctx, all, vitals); err != nil {
			for _, b := range list {
				s.unsettle(b.settled)
			}
			return err
		}
	}
	if !list[0].replayed {
		s.heard(l, list[0].now, all, vitals)
	}
	for _, b := range list {
		all = all[copy(b.inputs, all):]
	}
	for _, b := range list {
		s.settle(ctx, l, b.settled)
	}
	if len(held) == 0 {
		return nil
	}
	return s.holding.hold(ctx, l.source.WorkspaceID, held)
}

// finish fills in the outcome of a batch that was stored.
func (b *batch) finish(o *Outcome) {
	o.Duplicates += b.again
	for i := range b.inputs {
		for f := range b.inputs[i].Conflicts.All() {
			o.leaveOut(LeftOut{ExternalID: b.names[i], Field: f.String(), Reason: why("another value is stored for this moment, and is kept")})
		}
		switch b.inputs[i].Outcome {
		case store.Accepted:
			o.Accepted++
		case store.Duplicate:
			o.Duplicates++
		default: // deleted a moment ago
			o.Rejected++
		}
	}
	for _, h := range b.kept {
		o.full = o.full || h.ID == 0
	}
	for i, id := range b.order {
		if len(b.kept) == 0 || b.kept[i].ID != 0 {
			o.Held++
			o.problem("%s: %s", id, rimewatch.SentenceOf(b.held[id].reason))
		}
	}
}

// register creates the device of a sender and binds it, unless another message of
// the sender, on another connection, has done so meanwhile.
func (s *Service) register(ctx context.Context, src *rimewatch.Source, id, label string) (*store.Identity, error) {
	lock := &s.registering[maphash.String(s.seed, src.SenderKey(id))%uint64(len(s.registering))]
	lock.Lock()
	defer lock.Unlock()
	who, err := s.create(ctx, src, id, label)
	if err == nil {
		return who, nil
	}
	bindings, failed := s.cfg.Store.Inlets().Bindings(ctx, src.WorkspaceID, src.ID)
	if failed != nil {
		return nil, err
	}
	for i := range bindings {
		if b := &bindings[i]; src.SenderKey(b.ExternalID) == src.SenderKey(id) {
			if who := s.cfg.Store.Identify(src.WorkspaceID, []byte(b.Serial)); who != nil {
				return who, nil
			}
		}
	}
	return nil, err
}

// create creates the device of a sender and binds it.
func (s *Service) create(ctx context.Context, src *rimewatch.Source, id, label string) (*store.Identity, error) {
	if _, err := s.workspace(ctx, src.WorkspaceID); err != nil {
		return nil, err
	}
	binding := rimewatch.Binding{ExternalID: id, Serial: SerialOf(id), CreatedAt: s.cfg.Now()}
	if binding.Check() != nil { // before there is a device that nothing could be stored of
		return nil, rimewatch.Errorf(rimewatch.CodeValidationFailed, "what the sender calls itself is longer than %d bytes", rimewatch.MaxExternalID)
	}
	d := rimewatch.Device{WorkspaceID: src.WorkspaceID, Serial: binding.Serial, Name: cmp.Or(rimewatch.NameFrom(label), rimewatch.NameFrom(id)), SiteID: src.SiteID,
		EquipmentType: cmp.Or(src.EquipmentType, rimewatch.OtherEquipment)}
	view, err := s.newDevice(store.WithActor(ctx, "source "+src.Name), &d)
	if err != nil {
		return nil, err
	}
	err = s.cfg.Store.Inlets().PutBindings(ctx, src.WorkspaceID, src.ID, []rimewatch.Binding{binding})
	if err != nil {
		return nil, err
	}
	s.outdated(src.ID)
	return store.IdentityOf(&view.Device), nil
}

// newDevice creates the device of a sender, unless the workspace has had too many within an
// hour: CodeRateLimited.
func (s *Service) newDevice(ctx context.Context, d *rimewatch.Device) (rimewatch.DeviceView, error) {
	if _, wait := s.cfg.Registrations.Take(d.WorkspaceID, s.cfg.Now()); wait > 0 {
		e := rimewatch.Errorf(rimewatch.CodeRateLimited, "More than %d devices were registered within an hour.", limit.RegistrationsPerHour)
		return rimewatch.DeviceView{}, e
	}
	return s.CreateDevice(ctx, d)
}

// SerialOf makes a serial of a sender's own name.
func SerialOf(id string) string {
	serial := strings.Map(func(c rune) rune {
		if c < 128 && rimewatch.ValidSerial("x"+string(c)) {
			return c
		}
		return '-'
	}, id)
	serial = serial[:min(len(serial), rimewatch.MaxSerialLen)]
	if !rimewatch.ValidSerial(serial) {
		return "device"
	}
	return serial
}

// why is a reason as it is kept.
func why(format string, args ...any) string { return rimewatch.Sentencef(format, args...).Stored() }

// clipped returns the text of an error for people.
func clipped(err error) any {
	var e *rimewatch.Error
	if errors.As(err, &e) && len(e.Message) <= mostSaid {
		return e.Sentence()
	}
	text := err.Error()
	return strings.ToValidUTF8(text[:min(len(text), mostSaid)], "")
}

const mostSaid = 200 // bytes of an error
