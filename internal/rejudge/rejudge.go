package rejudge

import (
	"context"
	"errors"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/store"
)

const (
	// back is how far back it is looked for a time at which nothing ran.
	back = 30 * rimewatch.Day
	// mostMeanwhile bounds the readings of CatchUp, mostExcursions the rows of a device.
	mostMeanwhile  = 10_000
	mostExcursions = 100_000
)

// Store is what is read.
type Store interface {
	store.History
	Records() store.Records
	Routing() store.Routing
}

// Device is one whose readings came late.
type Device struct {
	ID, WorkspaceID int64
	Limits          rimewatch.Limits // in force now
	Offsets         []rimewatch.Offset
	Late            health.Late
	Since           rimewatch.Time // when began what runs, 0 = nothing does
	Days            health.Days
	// Excluded are those of the workspace's windows that are the device's.
	Excluded func([]rimewatch.MaintenanceWindow) []health.Span
	// Defrosts takes the readings that are judged, in their order, and reports of each whether
	// a defrost warmed the zone.
	Defrosts func(*rimewatch.Reading) bool
}

// Judgement is what is found out about a device.
type Judgement struct {
	Device
	history store.Corrected
	store   Store

	periods []period
	start   rimewatch.Time // from where on the readings were judged: nothing ran then
	amid    bool           // or not: what ran there began earlier than is read
	first   rimewatch.Time // the oldest temperature that was judged
	last    rimewatch.Time // the newest of the readings that were
	to      rimewatch.Time // what was recorded from here on is right without the late ones
	whole   bool           // they were judged up to the newest, so that state is what is known now
	state   health.State
	found   []rimewatch.Excursion
}

// period is how a device was judged until a moment.
type period struct {
	until rimewatch.Time
	cfg   health.Config
}

// at is how the device was judged at a moment.
func (x *Judgement) at(t rimewatch.Time) *health.Config {
	i := 0
	for i < len(x.periods)-1 && t >= x.periods[i].until {
		i++
	}
	return &x.periods[i].cfg
}

// reach is how far around a late reading it may change what is judged: for as long as a
// reading stands for the time after it, and a zone has to be back.
func (x *Judgement) reach() rimewatch.Time {
	return rimewatch.Time(health.DefaultMaxHold.Milliseconds()) + rimewatch.Time(x.Limits.ClearS)*rimewatch.Second
}

// from is where what may have changed begins: a late reading may change the sum of its day.
func (x *Judgement) from() rimewatch.Time {
	return x.Days.Begin(max(x.Late.From-x.reach(), rimewatch.MinTime))
}

var errEnough = errors.New("enough")

// Read judges the stored readings of a device.
func Read(ctx context.Context, s Store, d *Device, now rimewatch.Time) (*Judgement, error) {
	x := &Judgement{Device: *d, store: s, history: store.Corrected{History: s, Offsets: d.Offsets}}
	x.to = x.Days.End(x.Late.To + x.reach())
	if err := x.setEnd(ctx); err != nil {
		return nil, err
	}
	from := x.Days.Begin(x.Late.From)
	x.whole = x.to >= health.WindowFrom(now) || x.Since != 0 && x.Since <= x.to
	if x.whole {
		from = min(from, x.Days.Begin(health.WindowFrom(now)))
	}
	from = max(from, rimewatch.MinTime)
	if err := x.setPeriods(ctx, max(from-back, rimewatch.MinTime)); err != nil {
		return nil, err
	}
	var err error
	if x.start, err = x.calm(ctx, from); err != nil {
		return nil, err
	}
	err = x.history.Readings(ctx, store.HistoryQuery{DeviceID: x.ID, From: x.start, To: rimewatch.MaxTime}, func(r *rimewatch.Reading) error {
		x.take(r, now)
		if !x.whole && r.At > x.to && x.state.Settled() {
			return errEnough
		}
		return nil
	})
	if err == nil {
		// What came after a late reading was judged by a device that had not sent it, in all that it knew.
		x.whole, x.to = true, rimewatch.MaxTime
	} else if errors.Is(err, errEnough) {
		err = nil
	}
	return x, err
}

// setEnd finds out until when the readings have to be judged: to the end of each excursion
// that is recorded there.
func (x *Judgement) setEnd(ctx context.Context) error {
	for after := x.reach(); ; after = 0 {
		rows, err := x.store.Records().Excursions(ctx, x.WorkspaceID, x.ID, x.from(), x.to, mostExcursions)
		if err != nil {
			return err
		}
		to := x.to
		for i := range rows {
			to = max(to, x.Days.End(rows[i].To+after))
		}
		if to == x.to {
			return nil
		}
		x.to = to
	}
}

// setPeriods finds out how the device was judged since a moment.
func (x *Judgement) setPeriods(ctx context.Context, since rimewatch.Time) error {
	former, err := x.store.Records().FormerLimits(ctx, x.ID, since)
	if err != nil {
		return err
	}
	windows, _, err := x.store.Routing().MaintenanceWindows().Select(ctx, x.WorkspaceID, store.Selection{EndAfter: since})
	if err != nil {
		return err
	}
	excluded := x.Excluded(windows)
	for i := range former {
		x.periods = append(x.periods, period{former[i].Until, health.Config{Limits: former[i].Limits, Excluded: excluded, Days: x.Days}})
	}
	x.periods = append(x.periods, period{0, health.Config{Limits: x.Limits, Excluded: excluded, Days: x.Days}})
	return nil
}

// calm goes back from a moment to where judging may begin.
func (x *Judgement) calm(ctx context.Context, from rimewatch.Time) (rimewatch.Time, error) {
	var calm health.Calm
	q := store.HistoryQuery{DeviceID: x.ID, From: max(from-back, rimewatch.MinTime), To: from, Descending: true}
	err := x.history.Readings(ctx, q, func(r *rimewatch.Reading) error {
		if v, ok := zoneOf(r); ok && calm.Before(x.at(r.At), r.At, v) {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return 0, err
	}
	x.amid = err == nil
	if at := calm.From(); at != 0 {
		return at, nil
	}
	return from, nil
}

// zoneOf is the temperature that a reading is judged by.
func zoneOf(r *rimewatch.Reading) (v float64, ok bool) {
	v, ok = r.Value(rimewatch.ProductZoneTemp)
	return v, ok && rimewatch.ProductZoneTemp.Plausible(v)
}

// take judges the next reading.
func (x *Judgement) take(r *rimewatch.Reading, now rimewatch.Time) {
	x.last = r.At
	hints := health.HintOf(r)
	if x.Defrosts(r) {
		hints |= health.HintDefrost
	}
	if _, ok := zoneOf(r); !ok {
		return
	}
	if x.first == 0 {
		x.first = r.At
	}
	c := x.at(r.At)
	if r.At > now { // nothing was measured in the future
		arrived := *r
		arrived.At = max(now, x.state.Newest())
		r = &arrived
	}
	for _, e := range x.state.Observe(c, r) {
		x.add(&e)
	}
	x.state.Hint(hints)
}

func (x *Judgement) add(e *health.Excursion) {
	l := &x.periods[len(x.periods)-1].cfg.Limits
	if e.End != 0 {
		l = &x.at(e.End).Limits
	}
	x.found = append(x.found, e.Record(x.WorkspaceID, x.ID, l))
}

// ErrMany means that too many readings came since Read.
var ErrMany = errors.New("too many readings came meanwhile")

// Finish judges what came since, and returns what is then known of the device, of which
// live is known, and what that changes of its recorded excursions. Nothing else may
// happen to the device meanwhile.
func (x *Judgement) Finish(ctx context.Context, live *health.State, now rimewatch.Time) (next health.State, m Mending, err error) {
	next = live.Checked(x.Late)
	rows, err := x.store.Records().Excursions(ctx, x.WorkspaceID, x.ID, min(x.start, x.from()), rimewatch.MaxTime, mostExcursions)
	if err != nil {
		return next, m, err
	}
	if x.whole {
		if err := x.catchUp(ctx, now); err != nil {
			return next, m, err
		}
	}
	x.resume(rows, live)
	if x.whole {
		if x.state.Newest() != 0 {
			next = live.Rejudged(&x.state, x.Late)
		}
		if e, lasts := x.state.Excursion(); lasts {
			x.add(&e)
		}
	}
	if x.first == 0 {
		return next, m, nil
	}
	m = mend(rows, x.found, max(x.from(), x.first+1), x.to, now) // what was over before the first one was not judged
	x.mendDays(&m, rows, now)
	return next, m, nil
}

// resume has an excursion amid which judging began start when it is known to have started: as
// recorded, or as it lasts.
func (x *Judgement) resume(recorded []rimewatch.Excursion, live *health.State) {
	if !x.amid {
		return
	}
	if e, lasts := live.Excursion(); lasts {
		recorded = append(slices.Clip(recorded), e.Record(x.WorkspaceID, x.ID, &x.Limits))
	}
	for i := range recorded {
		was := &recorded[i]
		if was.Runs > 0 || was.From >= x.first || until(was) <= x.first {
			continue
		}
		if len(x.found) > 0 && x.found[0].From == x.first {
			begin(&x.found[0], was)
		} else if e, lasts := x.state.Excursion(); lasts && e.Start == x.first {
			row := e.Record(x.WorkspaceID, x.ID, &x.Limits)
			begin(&row, was)
			x.state.Began(row.From, row.Peak, row.DegreeMinutes)
		}
		return
	}
}

// begin has an excursion begin when another one of the same side did.
func begin(f, was *rimewatch.Excursion) {
	if f.Low != was.Low {
		return
	}
	f.From, f.DegreeMinutes = was.From, max(f.DegreeMinutes, was.DegreeMinutes)
	if was.Peak > f.Peak == !f.Low {
		f.Peak = was.Peak
	}
}

// catchUp judges the readings that came since, newer than all others.
func (x *Judgement) catchUp(ctx context.Context, now rimewatch.Time) error {
	n := 0
	return x.history.Readings(ctx, store.HistoryQuery{DeviceID: x.ID, From: x.last + 1, To: rimewatch.MaxTime}, func(r *rimewatch.Reading) error {
		if n++; n > mostMeanwhile {
			return ErrMany
		}
		x.take(r, now)
		return nil
	})
}
