package source

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/inlet"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Outcome is what became of a payload.
type Outcome struct {
	Accepted   int      `json:"accepted" doc:"Readings that were stored."`
	Duplicates int      `json:"duplicates" doc:"Readings that had been stored before."`
	Held       int      `json:"held" doc:"Senders whose readings wait for somebody to accept the device."`
	Rejected   int      `json:"rejected" doc:"Readings that cannot be stored."`
	Ignored    int      `json:"ignored" doc:"Parts without a measurement, such as joins."`
	Problems   []string `json:"problems" doc:"Why something waits or was rejected, the first ten."`

	full bool // something would have had to wait and could not
}

func (o *Outcome) problem(format string, args ...any) {
	const most = 10
	if len(o.Problems) < most {
		o.Problems = append(o.Problems, fmt.Sprintf(format, args...))
	}
}

// err is what a sender is told when nothing of what it sent was of use.
func (o *Outcome) err() error {
	switch {
	case o.full:
		return errHeldFull()
	case o.Accepted+o.Duplicates+o.Held+o.Ignored > 0 || o.Rejected == 0:
		return nil
	}
	e := rimewatch.Errorf(rimewatch.CodeValidationFailed, "Nothing of this could be stored.")
	for _, p := range o.Problems {
		e = e.With("payload", "%s", p)
	}
	return e
}

func errHeldFull() error {
	e := rimewatch.Errorf(rimewatch.CodeHeldFull, "Too much waits for devices to be accepted: accept or delete some of it.")
	e.RetryAfter = 10 * minute
	return e
}

// Receive stores what a payload means and returns when that is durable.
// CodeInvalidJSON for what is no payload at all, CodeValidationFailed when
// nothing of it can be stored, CodeHeldFull, CodeUnavailable.
func (s *Service) Receive(ctx context.Context, l *Live, p *inlet.Payload) (Outcome, error) {
	o, err := s.receive(ctx, l, p)
	if err == nil {
		err = o.err()
	}
	s.Counts.add(l.source.Kind, &o, err)
	return o, err
}

func (s *Service) receive(ctx context.Context, l *Live, p *inlet.Payload) (o Outcome, err error) {
	o.Problems = []string{}
	p.Received = s.cfg.Now()
	b := s.batch(l, p.Received)
	r := s.decode(l, p)
	switch {
	case r.Malformed:
		return o, rimewatch.Errorf(rimewatch.CodeInvalidJSON, "%s", r.Problem)
	case r.Ignored:
		o.Ignored++
		return o, nil
	case r.Problem != "":
		b.hold("", "", r.Problem)
	}
	for i := range r.Items {
		b.take(ctx, &r.Items[i], &o)
	}
	err = b.finish(ctx, &o, func(string) *rimewatch.Held { return heldPayload(p) })
	return o, err
}

// decode maps a payload by the source's template.
func (s *Service) decode(l *Live, p *inlet.Payload) *inlet.Result {
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
	s      *Service
	l      *Live
	now    rimewatch.Time
	replay string // the sender whose payloads are replayed
	inputs []store.Input
	at     map[momentKey]int // input of a device and time
	device []inlet.Device    // what the senders say of themselves, by serial
	serial []string
	held   map[string]*waiting
	order  []string
}

type momentKey struct {
	device int64
	at     rimewatch.Time
}

// waiting is why something of a sender has to wait.
type waiting struct{ label, reason string }

func (s *Service) batch(l *Live, now rimewatch.Time) *batch {
	return &batch{s: s, l: l, now: now, at: make(map[momentKey]int), held: make(map[string]*waiting)}
}

func (b *batch) hold(id, label, reason string) {
	if b.held[id] == nil {
		b.held[id] = &waiting{label, reason}
		b.order = append(b.order, id)
	}
}

// take decides what becomes of an item.
func (b *batch) take(ctx context.Context, x *inlet.Item, o *Outcome) {
	id := cmp.Or(x.ID, nameless)
	if x.Problem != "" {
		b.hold(id, x.Label, x.Problem)
		return
	}
	for i := range x.Readings {
		r := &x.Readings[i]
		who, reason := b.who(ctx, id, x.Label, r)
		if who == nil && reason == refused {
			o.Rejected++
			o.problem("%s: no device is registered for this sender", id)
			continue
		}
		if who == nil {
			b.hold(id, x.Label, reason)
			continue
		}
		b.device, b.serial = append(b.device, x.Device), append(b.serial, who.Serial)
		switch what, err := b.outside(ctx, x.At); {
		case err != nil:
			b.hold(id, x.Label, "the workspace could not be read")
		case r.Empty() && r.Serial == "" && x.Device == (inlet.Device{}):
			b.hold(id, x.Label, "no measurement was recognised")
		case r.Empty():
			o.Ignored++
		case what != "":
			o.Rejected++
			o.problem("%s: the time %s", id, what)
		default:
			b.add(who, &r.Reading)
		}
	}
}

const refused = "refused"

// who finds the device of a reading, or says why there is none.
func (b *batch) who(ctx context.Context, id, label string, r *inlet.Reading) (*store.Identity, string) {
	src := &b.l.source
	if r.Serial != "" {
		if who := b.s.cfg.Store.Identify(src.WorkspaceID, []byte(r.Serial)); who != nil {
			return who, ""
		}
		return nil, fmt.Sprintf("the device %s, to which the sender is bound, does not exist", r.Serial)
	}
	if rimewatch.ValidSerial(id) {
		if who := b.s.cfg.Store.Identify(src.WorkspaceID, []byte(id)); who != nil {
			return who, ""
		}
	}
	switch {
	case src.OnUnknown == rimewatch.RefuseUnknown:
		return nil, refused
	case src.OnUnknown == rimewatch.HoldUnknown || r.Empty():
		return nil, "no device is bound to this sender"
	}
	who, err := b.s.register(ctx, src, id, label)
	if err != nil {
		return nil, "the device could not be registered: " + clipped(err)
	}
	return who, ""
}

// outside says what is wrong with the time of a reading.
func (b *batch) outside(ctx context.Context, at rimewatch.Time) (string, error) {
	w, err := b.s.workspace(ctx, b.l.source.WorkspaceID)
	switch {
	case err != nil || at == 0:
		return "", err
	case at > b.now+5*rimewatch.Minute:
		return "is more than 5 minutes in the future", nil
	case at < b.now-rimewatch.Time(w.RawDays)*rimewatch.Day:
		return "is before the time for which readings are kept", nil
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

// finish stores the batch and fills in the outcome. payload returns what is kept
// of a sender that waits.
func (b *batch) finish(ctx context.Context, o *Outcome, payload func(id string) *rimewatch.Held) error {
	if len(b.inputs) > 0 {
		if err := b.s.cfg.Writer.Submit(ctx, b.l.source.WorkspaceID, b.inputs); err != nil {
			return err
		}
	}
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
	if err := b.keep(ctx, o, payload); err != nil {
		return err
	}
	for i, serial := range b.serial {
		b.s.tell(ctx, b.l, serial, &b.device[i])
	}
	return nil
}

// keep keeps what has to wait.
func (b *batch) keep(ctx context.Context, o *Outcome, payload func(id string) *rimewatch.Held) error {
	if b.replay != "" || len(b.order) == 0 {
		for _, id := range b.order {
			o.Held++
			o.problem("%s: %s", id, b.held[id].reason)
		}
		return nil
	}
	list := make([]*rimewatch.Held, 0, len(b.order))
	for _, id := range b.order {
		h := payload(id)
		h.SourceID, h.ExternalID, h.Label, h.Reason = b.l.source.ID, id, b.held[id].label, b.held[id].reason
		list = append(list, h)
	}
	if err := b.s.holding.hold(ctx, b.l.source.WorkspaceID, list); err != nil {
		return err
	}
	for _, h := range list {
		if h.ID == 0 {
			o.full = true
			continue
		}
		o.Held++
		o.problem("%s: %s", h.ExternalID, h.Reason)
	}
	return nil
}

// register creates the device of a sender and binds it.
func (s *Service) register(ctx context.Context, src *rimewatch.Source, id, label string) (*store.Identity, error) {
	if _, err := s.workspace(ctx, src.WorkspaceID); err != nil {
		return nil, err
	}
	if !s.mayRegister(src.WorkspaceID) {
		return nil, rimewatch.Errorf(rimewatch.CodeRateLimited, "More than %d devices were registered within an hour.", registrationsPerHour)
	}
	ctx = store.WithActor(ctx, "source "+src.Name)
	d := rimewatch.Device{WorkspaceID: src.WorkspaceID, Serial: SerialOf(id), Name: cmp.Or(strings.TrimSpace(label), id), SiteID: src.SiteID,
		EquipmentType: cmp.Or(src.EquipmentType, rimewatch.OtherEquipment)}
	view, err := s.cfg.Writer.CreateDevice(ctx, &d)
	if err != nil {
		return nil, err
	}
	err = s.cfg.Store.PutBindings(ctx, src.WorkspaceID, src.ID, []rimewatch.Binding{{ExternalID: id, Serial: d.Serial, CreatedAt: s.cfg.Now()}})
	if err != nil {
		return nil, err
	}
	s.changed(src.ID)
	return store.IdentityOf(&view.Device), nil
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

func clipped(err error) string {
	text := err.Error()
	return strings.ToValidUTF8(text[:min(len(text), 200)], "")
}
