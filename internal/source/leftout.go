package source

import (
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/inlet"
	"github.com/rimewatch/rimewatch/internal/limit"
)

// LeftOut is a value of a known sender that was not stored as a measurement.
type LeftOut struct {
	ExternalID string `json:"external_id" doc:"What the sender calls itself."`
	Field      string `json:"field" doc:"The measurement or observation that it would have been; recorded_at for a time, which concerns the whole reading; empty for the whole message."`
	Value      string `json:"value" doc:"As it was sent, shortened; empty when several could have been meant."`
	Reason     string `json:"reason"` // as Sentence.Stored returns it; In writes it
}

// In returns x in the language in which say returns an English text.
func (x LeftOut) In(say func(english string) string) LeftOut {
	x.Reason = rimewatch.SentenceOf(x.Reason).In(say)
	return x
}

// In returns o in the language in which say returns an English text.
func (o Outcome) In(say func(english string) string) Outcome {
	problems := make([]string, len(o.Problems))
	for i, p := range o.Problems {
		problems[i] = rimewatch.SentenceOf(p).In(say)
	}
	leftOut := make([]LeftOut, len(o.LeftOut))
	for i, x := range o.LeftOut {
		leftOut[i] = x.In(say)
	}
	o.Problems, o.LeftOut = problems, leftOut
	return o
}

// maxLeftOut bounds the values that an answer names, and those that are remembered
// of a source.
const maxLeftOut = 10

func (o *Outcome) leaveOut(x LeftOut) {
	o.leftOut++
	if len(o.LeftOut) < maxLeftOut {
		o.LeftOut = append(o.LeftOut, x)
	}
}

// leaveOutRest notes what a board measured that is of none of its sensors, where nobody
// has bound it as a whole.
func (o *Outcome) leaveOutRest(id string, r *inlet.Reading) {
	for f, v := range r.Reading.All() {
		o.leaveOut(LeftOut{id, f.String(), rimewatch.Decimal(v), why("nothing says of which of its sensors this is")})
	}
	for x := range rimewatch.NumFlags {
		if yes, ok := r.Reading.Flags.Bool(x); ok {
			o.leaveOut(LeftOut{id, x.String(), strconv.FormatBool(yes), why("nothing says of which of its sensors this is")})
		}
	}
}

// leaveOutOf notes what a known sender sent that cannot be stored, and reports
// whether there was any.
func (o *Outcome) leaveOutOf(id string, r *inlet.Reading) (any bool) {
	for i := range r.Fields {
		if f := &r.Fields[i]; f.LeftOut() {
			any = true
			o.leaveOut(LeftOut{id, f.Name, f.FoundText(), f.Problem})
		}
	}
	return any
}

// Received counts the payloads and readings of a source since the service started.
type Received struct {
	Payloads   int64           `json:"payloads"`
	Accepted   int64           `json:"accepted" doc:"Readings that were stored."`
	Duplicates int64           `json:"duplicates"`
	Held       int64           `json:"held"`
	Rejected   int64           `json:"rejected"`
	Ignored    int64           `json:"ignored" doc:"Messages of a kind that measures nothing, such as joins."`
	Vitals     int64           `json:"vitals" doc:"Messages of known devices that only say something of the device, such as its battery."`
	LeftOut    int64           `json:"left_out_values" doc:"Values of known senders that were not stored as measurements."`
	Newest     []LeftOutLately `json:"left_out" doc:"The newest of them, one of each sender and field, at most ten."`
}

// In returns r in the language in which say returns an English text.
func (r Received) In(say func(english string) string) Received {
	newest := make([]LeftOutLately, len(r.Newest))
	for i, x := range r.Newest {
		x.LeftOut = x.LeftOut.In(say)
		newest[i] = x
	}
	r.Newest = newest
	return r
}

// LeftOutLately is a value that was left out, with how often that happened to this
// sender and field.
type LeftOutLately struct {
	LeftOut

	Count int64          `json:"count" doc:"How often this sender sent something for this field that was left out."`
	At    rimewatch.Time `json:"at" nullable:"false" doc:"When the newest came."`
}

// tallies are the counts of each source.
type tallies struct {
	mu       sync.Mutex
	bySource map[int64]*tally
}

type tally struct {
	Received

	logged limit.Gate
}

// Received returns the counts of a source since the service started.
func (s *Service) Received(id int64) Received {
	s.tallies.mu.Lock()
	defer s.tallies.mu.Unlock()
	t := s.tallies.bySource[id]
	if t == nil {
		return Received{}
	}
	r := t.Received
	r.Newest = slices.Clone(r.Newest)
	return r
}

// count notes the outcome of a payload. A source whose payloads cannot be stored
// is logged once a minute at most.
func (s *Service) count(src *rimewatch.Source, o *Outcome, err error) {
	s.Counts.add(o, err)
	now := s.cfg.Now()
	s.tallies.mu.Lock()
	t := s.tallies.of(src.ID)
	t.add(o, now)
	log := false
	if len(o.LeftOut) > 0 {
		_, log = t.logged.Pass(now, time.Minute)
	}
	s.tallies.mu.Unlock()
	if log {
		x := &o.LeftOut[0]
		s.cfg.Log.Info("a value was left out", "workspace", src.WorkspaceID, "source", src.Name, "sender", x.ExternalID, "field", x.Field, "value", x.Value, "reason", rimewatch.SentenceOf(x.Reason).String())
	}
}

func (x *tallies) of(id int64) *tally {
	t := x.bySource[id]
	if t == nil {
		if len(x.bySource) >= maxLive || x.bySource == nil {
			x.bySource = make(map[int64]*tally)
		}
		t = new(tally)
		x.bySource[id] = t
	}
	return t
}

func (t *tally) add(o *Outcome, now rimewatch.Time) {
	t.Payloads++
	t.Accepted += int64(o.Accepted)
	t.Duplicates += int64(o.Duplicates)
	t.Held += int64(o.Held)
	t.Rejected += int64(o.Rejected)
	t.Ignored += int64(o.Ignored)
	t.Vitals += int64(o.Vitals)
	t.LeftOut += int64(o.leftOut)
	for _, x := range o.LeftOut {
		lately := LeftOutLately{x, 1, now}
		i := slices.IndexFunc(t.Newest, func(y LeftOutLately) bool { return y.ExternalID == x.ExternalID && y.Field == x.Field })
		if i >= 0 {
			lately.Count += t.Newest[i].Count
			t.Newest = slices.Delete(t.Newest, i, i+1)
		}
		t.Newest = slices.Insert(t.Newest, 0, lately)
		t.Newest = t.Newest[:min(len(t.Newest), maxLeftOut)]
	}
}
