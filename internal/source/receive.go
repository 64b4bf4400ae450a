package source

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"net/url"
	"strings"

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
	Ignored    int `json:"ignored" doc:"Parts without a measurement, such as joins."`
	Retained   int `json:"retained" doc:"Retained messages of a broker without a time of their own: they may be of any age and are not stored."`
	Unreadable int `json:"unreadable" doc:"How many of those that wait sent no measurement that can be read: they will have to send another one."`
	// Problems are as Sentence.Stored returns them; In writes them.
	Problems []string `json:"problems" doc:"Why something waits or was rejected, the first ten."`
	// LeftOut is what known senders sent that is no measurement.
	LeftOut []LeftOut `json:"left_out" doc:"Values of known senders that were not stored as measurements, the first ten: not a number, out of range, what broken sensors report, another temperature than the one that was read, or a name that came twice."`

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
	case o.Accepted+o.Duplicates+o.Held+o.Ignored+o.Retained > 0 || o.Rejected == 0:
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

// read decides what becomes of a payload: CodeInvalidJSON for what is none.
func (b *batch) read(ctx context.Context, p *inlet.Payload, o *Outcome) error {
	b.retained = p.Retained
	r := b.s.decode(b.l, p)
	switch {
	case r.Malformed:
		return rimewatch.Errorf(rimewatch.CodeInvalidJSON, "%s", rimewatch.SentenceOf(r.Problem))
	case r.Ignored:
		o.Ignored++
		return nil
	case r.Problem != "" && p.Retained:
		o.Retained++
	case r.Problem != "":
		b.hold(o, "", "", r.Problem)
	}
	for i := range r.Items {
		b.take(ctx, &r.Items[i], o)
	}
	return nil
}

// decode maps a payload by the source's template.
func (s *Service) decode(l *Live, p *inlet.Payload) *inlet.Result {
	p.Zone = l.zone
	if l.mapper == nil {
		return s.Library.Decode(p, l.bound)
	}
	return l.mapper.Decode(p, l.bound)
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
	at     map[momentKey]int // input of a device and time
	vitals []store.Vitals
	kept   []*rimewatch.Held // in the order of order; none in a replay
	oldest rimewatch.Time    // that is stored; 0 = not asked yet
	// unsettled refuses all of it for the moment: it may be from the time that the
	// service is about to adopt.
	unsettled *rimewatch.Error
	held      map[string]*waiting
	order     []string
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

// take decides what becomes of an item.
func (b *batch) take(ctx context.Context, x *inlet.Item, o *Outcome) {
	id := cmp.Or(x.ID, nameless)
	if b.retained && x.At == 0 {
		o.Retained++
		return
	}
	if x.Problem != "" {
		b.hold(o, id, x.Label, x.Problem)
		return
	}
	for i := range x.Readings {
		r := &x.Readings[i]
		who, reason := b.who(ctx, x, r)
		if who == nil && reason == refused {
			o.Rejected++
			o.problem("%s: no device is registered for this sender", id)
			continue
		}
		if who == nil {
			if text := unread(r); text != "" {
				o.Unreadable++
				reason = why("%s, and %s", rimewatch.SentenceOf(reason), rimewatch.SentenceOf(text))
			} else if r.Empty() && x.Device == (inlet.Device{}) {
				reason = why("%s, and %s", rimewatch.SentenceOf(reason), rimewatch.SentenceOf(why("no measurement was recognised")))
			}
			b.hold(o, id, x.Label, reason)
			continue
		}
		if d := &x.Device; *d != (inlet.Device{}) {
			b.vitals = append(b.vitals, store.Vitals{DeviceID: who.ID, Heartbeat: rimewatch.Heartbeat{BatteryPct: d.BatteryPct, RSSI: d.RSSI, FirmwareVersion: d.Firmware}})
		}
		if c := b.s.cfg.Clock; c != nil && x.At != 0 && !b.retained && !b.replayed {
			c.Saw(uint64(who.ID), x.At, b.now)
		}
		what, err := b.outside(ctx, x.At)
		if err != nil {
			b.hold(o, id, x.Label, why("the workspace could not be read"))
			continue
		}
		leftOut := o.leaveOutOf(id, r)
		switch {
		case r.Empty() && r.Serial == "" && x.Device == (inlet.Device{}) && !leftOut:
			b.hold(o, id, x.Label, why("no measurement was recognised"))
		case r.Empty():
			o.Ignored++
		case what != "":
			o.Rejected++
			o.problem("%s: the time %s", id, rimewatch.SentenceOf(what))
			o.leaveOut(LeftOut{id, "recorded_at", x.At.String(), what})
		default:
			b.add(who, &r.Reading)
		}
	}
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
	src, id, opener := &b.l.source, x.ID, &b.l.opener
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
	case id == "":
		return nil, why("the payload does not say which sensor it is from: nothing near its top names one, or several things do; only a source with one sensor may be bound as a whole")
	case on == rimewatch.HoldUnknown || r.Empty():
		return nil, why("no device is bound to this sender")
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

// outside returns what is wrong with the time of a reading, "" when nothing is. One from
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
func (b *batch) add(who *store.Identity, r *rimewatch.Reading) {
	if r.At != 0 {
		key := momentKey{who.ID, r.At}
		if i, ok := b.at[key]; ok {
			into := &b.inputs[i].Reading
			for f, v := range r.All() {
				if !into.Present.Has(f) {
					into.Set(f, v)
				}
			}
			into.Faults |= r.Faults
			into.Flags |= r.Flags
			return
		}
		b.at[key] = len(b.inputs)
	}
	b.inputs = append(b.inputs, store.Input{Kind: store.InputReading, DeviceID: who.ID, Reading: *r, AtArrival: r.At == 0})
}

// store stores the readings of batches in one step, then keeps what has to wait.
// payload returns what is kept of a sender in batch number i; nil = nothing.
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
		for _, id := range b.order {
			if payload != nil {
				h := payload(i, id)
				h.SourceID, h.ExternalID, h.Label, h.Reason = l.source.ID, id, b.held[id].label, b.held[id].reason
				b.kept = append(b.kept, h)
			}
		}
		held = append(held, b.kept...)
	}
	if len(all)+len(vitals) > 0 {
		if err := s.cfg.Writer.Submit(ctx, all, vitals); err != nil {
			return err
		}
	}
	for _, b := range list {
		all = all[copy(b.inputs, all):]
	}
	if len(held) == 0 {
		return nil
	}
	return s.holding.hold(ctx, l.source.WorkspaceID, held)
}

// finish fills in the outcome of a batch that was stored.
func (b *batch) finish(o *Outcome) {
	for i := range b.inputs {
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
	bindings, failed := s.cfg.Store.Bindings(ctx, src.WorkspaceID, src.ID)
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
	err = s.cfg.Store.PutBindings(ctx, src.WorkspaceID, src.ID, []rimewatch.Binding{binding})
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

// SerialOf makes a serial of what a sender calls itself.
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

// clipped returns what people may read of an error.
func clipped(err error) any {
	var e *rimewatch.Error
	if errors.As(err, &e) && len(e.Message) <= mostSaid {
		return e.Sentence()
	}
	text := err.Error()
	return strings.ToValidUTF8(text[:min(len(text), mostSaid)], "")
}

const mostSaid = 200 // bytes of an error
