package source

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/inlet"
	"github.com/rimewatch/rimewatch/internal/store"
)

// settled is of which sensor of a sender the temperature of a device is: from the first
// reading on it stays that one's, and what another of its sensors measures waits as a
// sender of its own.
type settled struct {
	device           int64
	serial, id, part string
	probe            string            // with the part of the sender
	fields           map[string]string // probes of the fields of a binding's rules
}

// settle remembers of which sensor a device is, so that the next line knows it already.
func (b *batch) settle(x *inlet.Item, r *inlet.Reading, who *store.Identity) {
	if !r.Senses && len(r.Probes) == 0 {
		return
	}
	one := settled{who.ID, who.Serial, x.ID, x.Part, joined(x.Part, r.Probe), r.Probes}
	if len(r.Probes) > 0 || b.s.remember(&one) {
		b.settled = append(b.settled, one)
	}
}

// remember notes a device's sensor, and reports whether none was known.
func (s *Service) remember(x *settled) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.probes[x.device]; known {
		return false
	}
	if len(s.probes) >= maxSettled {
		clear(s.probes)
	}
	s.probes[x.device] = x.probe
	return true
}

// unsettle forgets conclusions from readings that could not be stored.
func (s *Service) unsettle(list []settled) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range list {
		if len(list[i].fields) == 0 {
			delete(s.probes, list[i].device)
		}
	}
}

// maxSettled bounds the devices of which it is remembered.
const maxSettled = 100_000

// settle saves the facts that a restart must not forget: of a sensor for which the payload has a
// word, a binding.
func (s *Service) settle(ctx context.Context, l *Live, list []settled) {
	for i := range list {
		x := &list[i]
		if len(x.fields) > 0 {
			s.pin(ctx, l, x)
			continue
		}
		if x.probe == "" || l.source.Kind == rimewatch.SourceAPI {
			continue
		}
		b := rimewatch.Binding{ExternalID: inlet.NameOf(cmp.Or(x.id, nameless), x.probe), Serial: x.serial, CreatedAt: s.cfg.Now()}
		if len(l.bindings[l.source.SenderKey(b.ExternalID)]) == 0 && b.Check() == nil {
			s.put(ctx, l, b)
		}
	}
}

// pin adds to the rules of a binding whose probes they are.
func (s *Service) pin(ctx context.Context, l *Live, x *settled) {
	list, err := s.cfg.Store.Inlets().Bindings(ctx, l.source.WorkspaceID, l.source.ID)
	if err != nil {
		return
	}
	id := l.source.SenderKey(inlet.NameOf(cmp.Or(x.id, nameless), x.part))
	i := slices.IndexFunc(list, func(b rimewatch.Binding) bool {
		return l.source.SenderKey(b.ExternalID) == id && rimewatch.SerialKey(b.Serial) == rimewatch.SerialKey(x.serial)
	})
	var rules map[string]inlet.Rule
	if i < 0 || json.Unmarshal([]byte(list[i].Fields), &rules) != nil {
		return
	}
	for name, probe := range x.fields {
		if r, ok := rules[name]; ok {
			r.Probe = probe
			rules[name] = r
		}
	}
	if fields, err := json.Marshal(rules); err == nil {
		list[i].Fields = string(fields)
		s.put(ctx, l, list[i])
	}
}

func joined(part, probe string) string {
	if part == "" {
		return probe
	}
	return inlet.NameOf(part, probe)
}

func (s *Service) put(ctx context.Context, l *Live, b rimewatch.Binding) {
	if err := s.cfg.Store.Inlets().PutBindings(store.WithActor(ctx, "source "+l.source.Name), l.source.WorkspaceID, l.source.ID, []rimewatch.Binding{b}); err != nil {
		s.cfg.Log.Warn("note which sensor a device is of", "source", l.source.ID, "sender", b.ExternalID, "err", err)
		return
	}
	s.outdated(l.source.ID)
}

// unset is a reading of a known device whose time cannot be one.
type unset struct {
	who     *store.Identity
	reading rimewatch.Reading
	id      string
	stamp   string         // as it was sent
	shown   rimewatch.Time // what it says; 0 = nobody knows in which unit
	reason  string
}

// settleTimes dates readings whose clock was not set by their arrival. Of several
// of one device the newest has come now, and the others keep their distances from it; where
// these are not known, the newest alone is stored.
func (b *batch) settleTimes(o *Outcome) {
	defer clear(b.timed)
	for len(b.unset) > 0 {
		who := b.unset[0].who
		var of []unset
		rest := b.unset[:0:0]
		for _, u := range b.unset {
			if u.who.ID == who.ID {
				of = append(of, u)
			} else {
				rest = append(rest, u)
			}
		}
		b.unset = rest
		if b.timed[who.ID] { // its clock is set
			for _, u := range of {
				o.Rejected++
				o.problem("%s: the time %s", u.id, rimewatch.SentenceOf(u.reason))
				o.leaveOut(LeftOut{u.id, "recorded_at", u.stamp, u.reason})
			}
			continue
		}
		apart := !slices.ContainsFunc(of, func(u unset) bool { return u.shown == 0 })
		if apart {
			slices.SortStableFunc(of, func(x, y unset) int { return cmp.Compare(x.shown, y.shown) })
		}
		newest := &of[len(of)-1]
		for i := range of {
			u := &of[i]
			switch {
			case b.repeated(u):
				b.again++
				continue
			case u == newest:
				u.reading.At = 0
			case apart && u.shown < newest.shown:
				u.reading.At = b.now - (newest.shown - u.shown)
			default:
				o.leaveOut(LeftOut{u.id, "recorded_at", u.stamp, why("no_time: the clock of the device is not set, and nothing says how long before the newest reading of the message this was")})
				continue
			}
			if b.replayed {
				u.reading.At = cmp.Or(u.reading.At, b.arrived)
			}
			u.reading.Flags = u.reading.Flags.WithBool(rimewatch.ClockUnset, true)
			b.add(u.id, u.who, &u.reading)
		}
	}
}

// repeatedFor is how long a reading without a time is taken for the same when it comes
// again.
const repeatedFor = rimewatch.Day

// repeated reports whether the same stamp and values came from the device a moment ago.
func (b *batch) repeated(u *unset) bool {
	if u.stamp == "" || b.replayed {
		return false
	}
	r := u.reading
	r.At, r.ReceivedAt = 0, 0
	key := maphash.String(b.s.seed, fmt.Sprintln(u.who.ID, u.stamp, r))
	s := b.s
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.unsetAt[key]
	if len(s.unsetAt) >= maxSettled {
		clear(s.unsetAt)
	}
	if ok && b.now-at < repeatedFor {
		return true
	}
	s.unsetAt[key] = b.now
	return false
}
