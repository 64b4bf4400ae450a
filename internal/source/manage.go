package source

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/inlet"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Create makes a source. Its first key, of those that have keys, is given out here and
// never again.
func (s *Service) Create(ctx context.Context, src *rimewatch.Source) (key string, err error) {
	src.Template = cmp.Or(src.Template, rimewatch.TemplateAuto)
	src.OnUnknown = cmp.Or(src.OnUnknown, rimewatch.HoldUnknown)
	src.CreatedAt = s.cfg.Now()
	src.UpdatedAt = src.CreatedAt
	if _, err := s.mapper(src.Template, src.Document); err != nil {
		return "", err
	}
	if src.Kind == rimewatch.SourceMQTT {
		if w, err := s.cfg.Settings.Get(ctx, src.WorkspaceID, s.cfg.Now()); err != nil || w.TestOf != 0 {
			return "", cmp.Or(err, error(rimewatch.Invalid("kind", "must be push in a sandbox, which connects to no broker")))
		}
	}
	if err := s.cfg.Store.Inlets().Sources().Create(ctx, src); err != nil {
		return "", err
	}
	s.changed(src.ID)
	if src.Kind == rimewatch.SourcePush {
		key, err = s.CreateKey(ctx, &rimewatch.SourceKey{WorkspaceID: src.WorkspaceID, SourceID: src.ID})
	}
	return key, err
}

// Update changes a source; later payloads are read by its new settings.
// With rotate all its keys are worth nothing, and it has a new one.
func (s *Service) Update(ctx context.Context, workspaceID, id int64, rotate bool, change func(*rimewatch.Source) error) (src rimewatch.Source, key string, err error) {
	src, err = s.cfg.Store.Inlets().Sources().Update(ctx, workspaceID, id, func(x *rimewatch.Source) error {
		was := x.OnUnknown
		if err := change(x); err != nil {
			return err
		}
		if x.Kind == rimewatch.SourceAPI && x.OnUnknown != was {
			return rimewatch.Invalid("on_unknown", "of the API is a setting of the workspace")
		}
		if _, err := s.mapper(x.Template, x.Document); err != nil {
			return err
		}
		x.UpdatedAt = max(s.cfg.Now(), x.UpdatedAt+1)
		return nil
	})
	if err == nil && rotate && src.Kind == rimewatch.SourcePush {
		key, err = s.rotate(ctx, &src)
	}
	s.changed(id)
	return src, key, err
}

// Delete deletes a source with its keys, its bindings and its waiting payloads.
func (s *Service) Delete(ctx context.Context, workspaceID, id int64) error {
	err := s.cfg.Store.Inlets().Sources().Delete(ctx, workspaceID, id)
	s.changed(id)
	return err
}

// Sources lists the sources of a workspace, that of the API among them.
func (s *Service) Sources(ctx context.Context, workspaceID int64) ([]rimewatch.Source, error) {
	if _, err := s.cfg.Store.Inlets().APISource(ctx, workspaceID, s.cfg.Now()); err != nil {
		return nil, err
	}
	list, err := s.cfg.Store.Inlets().Sources().List(ctx, workspaceID)
	for i := 0; i < len(list) && err == nil; i++ {
		list[i].OnUnknown, err = onUnknown(ctx, &list[i], s.cfg.Store.Workspace)
	}
	return list, err
}

// Preview reads a payload as the source would, or by another template, and stores
// nothing. template "" is the source's.
func (s *Service) Preview(ctx context.Context, workspaceID, id int64, template, document string, p *inlet.Payload) (*inlet.Result, error) {
	l, err := s.ByID(ctx, workspaceID, id)
	if err != nil {
		return nil, err
	}
	one := *l
	if template != "" {
		if one.mapper, err = s.mapper(template, document); err != nil {
			return nil, err
		}
	}
	p.Explain, p.Received = true, s.cfg.Now()
	return s.decode(&one, p), nil
}

// Explain reads a payload that waits, with everything that could be bound.
func (s *Service) Explain(ctx context.Context, workspaceID int64, h *rimewatch.Held) (*inlet.Result, error) {
	l, err := s.ByID(ctx, workspaceID, h.SourceID)
	if err != nil {
		return nil, err
	}
	p := payloadOf(h)
	p.Explain = true
	return s.decode(l, p), nil
}

func payloadOf(h *rimewatch.Held) *inlet.Payload {
	p := &inlet.Payload{Body: h.Body, Topic: strings.TrimPrefix(h.Topic, rimewatch.HeldReadingTopic), Received: h.ReceivedAt, Query: map[string]string{}}
	q, _ := url.ParseQuery(h.Query)
	for k := range q {
		p.Query[k] = q.Get(k)
	}
	return p
}

// Bind ties senders to devices, creates the devices that do not exist, and
// replays what waits of them.
func (s *Service) Bind(ctx context.Context, workspaceID, id int64, list []Bound) (Outcome, error) {
	l, err := s.ByID(ctx, workspaceID, id)
	if err != nil {
		return Outcome{}, err
	}
	bindings, err := s.boundTo(l, list)
	if err != nil {
		return Outcome{}, err
	}
	for i := range list {
		x := &list[i]
		if s.cfg.Store.Identify(workspaceID, []byte(x.Serial)) != nil {
			continue
		}
		d := rimewatch.Device{WorkspaceID: workspaceID, Serial: x.Serial, Name: cmp.Or(strings.TrimSpace(x.Name), x.Serial),
			SiteID: cmp.Or(x.SiteID, l.source.SiteID), EquipmentType: cmp.Or(x.EquipmentType, l.source.EquipmentType, rimewatch.OtherEquipment), OfflineAfterS: x.OfflineAfterS}
		if _, err := s.cfg.Writer.CreateDevice(ctx, &d); err != nil && rimewatch.CodeOf(err) != rimewatch.CodeSerialTaken {
			return Outcome{}, err
		}
		if l.source.Kind != rimewatch.SourceAPI || rimewatch.SerialKey(x.Serial) != rimewatch.SerialKey(x.ExternalID) { // that is replayed below
			s.registered(ctx, workspaceID, x.Serial)
		}
	}
	if err := s.cfg.Store.Inlets().PutBindings(ctx, workspaceID, id, bindings); err != nil {
		return Outcome{}, err
	}
	s.outdated(id)
	total := newOutcome()
	for i := range list {
		if i > 0 && l.source.SenderKey(list[i].ExternalID) == l.source.SenderKey(list[i-1].ExternalID) {
			continue
		}
		senders, err := s.ofBoard(ctx, workspaceID, l, list[i].ExternalID)
		if err != nil {
			return total, err
		}
		for _, sender := range senders {
			o, err := s.Replay(ctx, workspaceID, id, sender)
			total.plus(&o)
			if err != nil {
				return total, err
			}
		}
	}
	return total, nil
}

// ofBoard returns a sender and those that wait of its sensors, the one that came first
// before.
func (s *Service) ofBoard(ctx context.Context, workspaceID int64, l *Live, externalID string) ([]string, error) {
	const page = 500
	var of []rimewatch.HeldSender
	for offset := 0; ; offset += page {
		senders, total, err := s.cfg.Store.Inlets().HeldSenders(ctx, workspaceID, l.source.ID, store.Page{Limit: page, Offset: offset})
		if err != nil {
			return nil, err
		}
		for i := range senders {
			if id := senders[i].ExternalID; strings.HasPrefix(l.source.SenderKey(id), l.source.SenderKey(externalID)+"/") {
				of = append(of, senders[i])
			}
		}
		if offset+page >= total {
			break
		}
	}
	slices.SortStableFunc(of, func(x, y rimewatch.HeldSender) int { return cmp.Compare(x.FirstAt, y.FirstAt) })
	all := []string{externalID}
	for i := range of {
		all = append(all, of[i].ExternalID)
	}
	return all, nil
}

// boundTo returns the bindings that a list asks for, and fills in the serials that
// it leaves out.
func (s *Service) boundTo(l *Live, list []Bound) ([]rimewatch.Binding, error) {
	bindings := make([]rimewatch.Binding, 0, len(list))
	for i := range list {
		x := &list[i]
		x.Serial = cmp.Or(x.Serial, SerialOf(x.ExternalID))
		if !rimewatch.OneLine(x.Name) {
			return nil, rimewatch.Invalid("name", "must not contain control characters")
		}
		if x.OfflineAfterS != 0 && x.OfflineAfterS < 10 {
			return nil, rimewatch.Invalid("offline_after_s", "must be at least %s", "10")
		}
		b := rimewatch.Binding{ExternalID: x.ExternalID, Serial: x.Serial, Fields: x.Fields, CreatedAt: s.cfg.Now()}
		if err := b.Check(); err != nil {
			return nil, err
		}
		if _, err := compileBinding(&b); err != nil {
			return nil, err
		}
		// A serial of the API is its device's own name: there is nothing to bind.
		if l.source.Kind != rimewatch.SourceAPI || rimewatch.SerialKey(b.Serial) != rimewatch.SerialKey(b.ExternalID) || b.Fields != "" {
			bindings = append(bindings, b)
		}
	}
	return bindings, nil
}

// CheckBound reports why a list of senders cannot be bound; nil = it can.
func (s *Service) CheckBound(ctx context.Context, workspaceID, id int64, list []Bound) error {
	l, err := s.ByID(ctx, workspaceID, id)
	if err != nil {
		return err
	}
	_, err = s.boundTo(l, list)
	return err
}

// Bound is a sender with the device that it is to be.
type Bound struct {
	ExternalID, Serial, Name, EquipmentType string

	SiteID        int64
	OfflineAfterS int    // of a device that is created; 0 = as it reports
	Fields        string // JSON of rules
}

// Unbind ends a binding.
func (s *Service) Unbind(ctx context.Context, workspaceID, id int64, externalID, serial string) error {
	err := s.cfg.Store.Inlets().DeleteBinding(ctx, workspaceID, id, externalID, serial)
	s.outdated(id)
	return err
}

func (o *Outcome) plus(x *Outcome) {
	o.Accepted += x.Accepted
	o.Duplicates += x.Duplicates
	o.Held += x.Held
	o.Rejected += x.Rejected
	o.Ignored += x.Ignored
	o.Vitals += x.Vitals
	o.Retained += x.Retained
	o.Unreadable += x.Unreadable
	for _, p := range x.Problems {
		o.problem("%s", rimewatch.SentenceOf(p))
	}
	for _, left := range x.LeftOut {
		o.leaveOut(left)
	}
}

// Replay reads again what waits of a sender. What can be stored now is, with its
// own times; the rest waits on, until its week is over. It may be repeated.
func (s *Service) Replay(ctx context.Context, workspaceID, id int64, externalID string) (Outcome, error) {
	const slice = 200
	total := newOutcome()
	l, err := s.ByID(ctx, workspaceID, id)
	if err != nil {
		return total, err
	}
	for after := int64(0); ; {
		list, err := s.cfg.Store.Inlets().Held(ctx, workspaceID, id, externalID, after, slice)
		if err != nil || len(list) == 0 {
			return total, err
		}
		after = list[len(list)-1].ID
		var done []int64
		for i := range list {
			if now, err := s.Fresh(ctx, l); err == nil { // which sensor is whose may have been settled
				l = now
			}
			o, waits, err := s.replayOne(ctx, l, externalID, &list[i])
			total.plus(&o)
			if err != nil {
				return total, err
			}
			if !waits {
				done = append(done, list[i].ID)
			}
		}
		if err := s.cfg.Store.Inlets().ReleaseHeld(ctx, workspaceID, done); err != nil {
			return total, err
		}
	}
}

// replayOne stores the part of a payload that is of its sender. A reading without
// a time gets the one at which it came, so that it is stored once. Where nothing in it is
// of that sender any more, it waits on.
func (s *Service) replayOne(ctx context.Context, l *Live, externalID string, h *rimewatch.Held) (o Outcome, waits bool, err error) {
	o = newOutcome()
	b := s.batch(l, s.cfg.Now())
	b.replayed, b.arrived = true, h.ReceivedAt
	mine, key := 0, l.source.SenderKey
	take := func(items []inlet.Item) {
		of := make([]inlet.Item, 0, len(items))
		// Where the message still has the sender itself, what a board is bound to was stored when it came.
		still := slices.ContainsFunc(items, func(x inlet.Item) bool { return key(nameOf(&x)) == key(externalID) })
		for i := range items {
			x := &items[i]
			name := key(nameOf(x))
			whole := key(cmp.Or(x.ID, nameless))
			switch bound := slices.ContainsFunc(x.Readings, func(r inlet.Reading) bool { return r.Serial != "" }); {
			case externalID == "", name == key(externalID), whole == key(externalID),
				!still && bound && strings.HasPrefix(key(externalID), whole+"/"): // of the board that it was a sensor of
			default:
				continue
			}
			mine++
			if x.At == 0 && x.Unset == "" {
				x.At = h.ReceivedAt
				for i := range x.Readings {
					x.Readings[i].Reading.At = h.ReceivedAt
				}
			}
			of = append(of, *x)
		}
		b.all(ctx, of, &o)
	}
	switch h.Topic {
	case linesTopic:
		_, err = new(inlet.LineReader).Read(h.Body, h.Query, s.bound(l), func(items []inlet.Item, _ []byte) { take(items) })
	case rimewatch.HeldReadingTopic:
		x, problem := l.readHeld(h)
		if problem != "" {
			x = inlet.Item{ID: externalID, Problem: problem}
		}
		take([]inlet.Item{x})
	default:
		r := s.decode(l, payloadOf(h))
		if r.Problem != "" {
			b.hold(&o, externalID, "", r.Problem)
		}
		take(r.Items)
	}
	if err == nil && mine == 0 && len(b.order) == 0 {
		b.hold(&o, externalID, "", why("nothing in the message is of this sender any more"))
	}
	waits = externalID == "" || slices.ContainsFunc(b.order, func(id string) bool { return key(id) == key(externalID) })
	if err == nil {
		err = s.store(ctx, l, []*batch{b}, func(_ int, id string) *rimewatch.Held {
			if waits {
				return nil
			}
			other := *h
			return &other
		})
	}
	if err == nil {
		b.finish(&o)
	}
	return o, len(b.order) > 0 && (waits || o.full), err
}

// Source returns a source of a workspace.
func (s *Service) Source(ctx context.Context, workspaceID, id int64) (rimewatch.Source, error) {
	src, err := s.cfg.Store.Inlets().Sources().Get(ctx, workspaceID, id)
	if err == nil {
		src.OnUnknown, err = onUnknown(ctx, &src, s.cfg.Store.Workspace)
	}
	return src, err
}

// Bindings lists the bindings of a source.
func (s *Service) Bindings(ctx context.Context, workspaceID, id int64) ([]rimewatch.Binding, error) {
	if _, err := s.cfg.Store.Inlets().Sources().Get(ctx, workspaceID, id); err != nil {
		return nil, err
	}
	return s.cfg.Store.Inlets().Bindings(ctx, workspaceID, id)
}

// Waiting lists the senders of a source of whom payloads wait, and a payload of each,
// read with everything that could be bound: the newest with a measurement.
func (s *Service) Waiting(ctx context.Context, workspaceID, id int64, p store.Page) (list []Waiting, total int, err error) {
	senders, total, err := s.cfg.Store.Inlets().HeldSenders(ctx, workspaceID, id, p)
	if err != nil {
		return nil, 0, err
	}
	for i := range senders {
		w := Waiting{HeldSender: senders[i]}
		if err := s.sample(ctx, workspaceID, &w); err != nil {
			return nil, 0, err
		}
		list = append(list, w)
	}
	return list, total, nil
}

// WaitingSenders returns how many senders of a workspace wait to be accepted.
func (s *Service) WaitingSenders(ctx context.Context, workspaceID int64) (int64, error) {
	n, _, err := s.cfg.Store.Inlets().HeldTotal(ctx, workspaceID)
	return n, err
}

// sample finds the payload that shows what a sender is: the first of the newest few in
// which a measurement is recognised, otherwise the newest.
func (s *Service) sample(ctx context.Context, workspaceID int64, w *Waiting) error {
	const few = 20
	before := int64(0)
	for n := range few { // one at a time: a payload may be large, and the first mostly does
		held, err := s.cfg.Store.Inlets().NewestHeld(ctx, workspaceID, w.SourceID, w.ExternalID, before, 1)
		if err != nil || len(held) == 0 {
			return err
		}
		before = held[0].ID
		if held[0].Topic == linesTopic {
			if n == 0 {
				w.Body = held[0].Body
			}
			return nil
		}
		r, err := s.Explain(ctx, workspaceID, &held[0])
		if err != nil {
			return err
		}
		measured := measures(r)
		if n == 0 || measured {
			w.Body, w.Result = held[0].Body, r
		}
		if measured {
			return nil
		}
	}
	return nil
}

func measures(r *inlet.Result) bool {
	return slices.ContainsFunc(r.Items, func(x inlet.Item) bool {
		return slices.ContainsFunc(x.Readings, func(r inlet.Reading) bool { return !r.Empty() })
	})
}

// Waiting is a sender with waiting payloads.
type Waiting struct {
	rimewatch.HeldSender
	Body   []byte
	Result *inlet.Result // nil for lines
}

// Drop deletes the waiting payloads of a sender.
func (s *Service) Drop(ctx context.Context, workspaceID, id int64, externalID string) (n int, err error) {
	if _, err := s.cfg.Store.Inlets().Sources().Get(ctx, workspaceID, id); err != nil {
		return 0, err
	}
	const slice = 500
	for {
		list, err := s.cfg.Store.Inlets().Held(ctx, workspaceID, id, externalID, 0, slice)
		if err != nil || len(list) == 0 {
			return n, err
		}
		ids := make([]int64, len(list))
		for i := range list {
			ids[i] = list[i].ID
		}
		if err := s.cfg.Store.Inlets().ReleaseHeld(ctx, workspaceID, ids); err != nil {
			return n, err
		}
		n += len(ids)
	}
}
