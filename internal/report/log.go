package report

import (
	"math"
	"sort"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/health"
)

// Totals sum a device's days up.
type Totals struct {
	Min         *float64 `json:"min" doc:"°C, of the period; null without readings."`
	Mean        *float64 `json:"mean" doc:"°C, weighted by time."`
	Max         *float64 `json:"max" doc:"°C"`
	Kinetic     *float64 `json:"mean_kinetic" doc:"°C, mean kinetic temperature (USP <1079.2>); for medicines only."`
	OutOfRangeS int64    `json:"out_of_range_s" doc:"s beyond a limit, however short."`
	InDefrostsS int64    `json:"in_defrosts_s" doc:"s of out_of_range_s for which the device reported a defrost as the reason, its recovery included."`
	InRange     *float64 `json:"in_range" doc:"0–100, share of the covered time in limits; null without limits or readings."`
	Coverage    float64  `json:"coverage" doc:"0–100, share of the period for which there are readings; of a device that came later, of the days listed."`
	IntervalS   float64  `json:"interval_s" doc:"s between readings; 0 without any."`
	Readings    int64    `json:"readings"`
	Implausible int64    `json:"implausible" doc:"Values left out because no probe can have measured them."`
	Warm        *int64   `json:"-"` // ms above the limit in the last 24 h of the period, nil = not known
	Cold        int64    `json:"-"` // ms below it; of no meaning without Warm
	Coarse      bool     `json:"from_aggregates" doc:"Some days are based on hourly aggregates: their readings have expired."`
}

// Day sums one day up, [From, To) within the period.
type Day struct {
	Date        string         `json:"date" format:"date" doc:"In the time zone of the period."`
	From        rimewatch.Time `json:"-"`
	To          rimewatch.Time `json:"-"`
	Min         *float64       `json:"min" doc:"°C; null without readings."`
	Mean        *float64       `json:"mean" doc:"°C, weighted by time."`
	Max         *float64       `json:"max" doc:"°C"`
	OutOfRangeS *int64         `json:"out_of_range_s" doc:"s; null without limits, and where hourly aggregates are not sufficient."`
	InDefrostsS int64          `json:"in_defrosts_s" doc:"s of out_of_range_s in defrosts."`
	Coverage    float64        `json:"coverage" doc:"0–100"`
	Readings    int64          `json:"readings"`
}

// Log gathers a device's readings into days.
type Log struct {
	limits rimewatch.Limits
	days   []dayLog
	at     rimewatch.Time // of the last reading, 0 = none
	value  float64
	gaps   gaps
	until  rimewatch.Time
	total  dayLog
	last   lastDay
	run    run
	harm   health.Kinetic

	implausible int64
	coarse      bool
}

// lastDay is the time out of limits in the last 24 h of the period.
type lastDay struct {
	warm, cold rimewatch.Time // ms
	vague      bool           // it is not known
}

// held adds a span in which a value held.
func (l *Log) held(from, to rimewatch.Time, v float64) {
	span := max(to-max(from, l.until-rimewatch.Day), 0)
	switch {
	case l.limits.TempMax != nil && v > *l.limits.TempMax:
		l.last.warm += span
	case l.limits.TempMin != nil && v < *l.limits.TempMin:
		l.last.cold += span
	}
}

// gaps are the usual times between readings as a day knows them: of its own readings
// and of those that warm it up. So a day has the same figures in every log.
type gaps struct {
	day       int        // the latest with a reading, -1 = before the first
	now, next health.Gap // of that day and of the one after it
}

// learn follows the time from the last reading to the next one, at.
func (l *Log) learn(at rimewatch.Time) {
	g := &l.gaps
	if l.at != 0 && g.day >= 0 && l.at >= l.days[g.day].from-WarmUp {
		g.now.Learn(at - l.at)
	}
	if l.at != 0 && g.day+1 < len(l.days) && l.at >= l.days[g.day+1].from-WarmUp {
		g.next.Learn(at - l.at)
	}
	for g.day+1 < len(l.days) && l.days[g.day+1].from <= at {
		g.day++
		g.now, g.next = g.next, 0
	}
}

// holds is until when the last reading stands for the time after it in the day with
// an index, at most.
func (l *Log) holds(day int) rimewatch.Time {
	switch g := &l.gaps; day {
	case g.day:
		return l.at + g.now.Hold()
	case g.day + 1:
		return l.at + g.next.Hold()
	default:
		return l.at // more than a day ago
	}
}

// run is a time out of limits in the making, of which is not known yet whether a
// defrost was the reason: the device may say so only after it began.
type run struct {
	since   rimewatch.Time
	first   int  // day in which it began
	going   bool // the last reading is out of limits
	defrost bool // the device reported a defrost
	was     bool // the last reading was in a defrost: what follows is the recovery
}

// longestDefrost is more than any defrost of the catalogue takes with its recovery:
// a run that lasts longer has another reason.
const longestDefrost = 4 * rimewatch.Hour

// dayLog is a day in the making, times in ms.
type dayLog struct {
	date         string
	from, to     rimewatch.Time
	n            int64
	low, high    float64
	covered, out rimewatch.Time
	pending      rimewatch.Time // of out, in the run that goes on
	defrost      rimewatch.Time // of out, in defrosts
	heat         float64        // K·ms
	vague        bool           // out is not known
}

// NewLog starts the log of a period, whose future is left out: now bounds it.
func NewLog(zone *time.Location, from, to, now rimewatch.Time, limits rimewatch.Limits) *Log {
	l := &Log{limits: limits, until: max(min(to, now), from), gaps: gaps{day: -1}}
	for at := from; at < l.until; {
		next := at.DayTime(1, 0, zone)
		l.days = append(l.days, dayLog{date: at.Std().In(zone).Format(time.DateOnly), from: at, to: min(next, l.until)})
		at = next
	}
	l.total = dayLog{from: from, to: l.until}
	return l
}

// WarmUp is how long before the period readings are worth having: they stand
// for its beginning, and tell the usual gap.
const WarmUp = 6 * rimewatch.Hour

// Add takes the next reading.
func (l *Log) Add(r *rimewatch.Reading) {
	v, has := r.Value(rimewatch.ProductZoneTemp)
	if !has {
		return
	}
	if !rimewatch.ProductZoneTemp.Plausible(v) {
		if r.At >= l.total.from {
			l.implausible++
		}
		return
	}
	if l.at != 0 {
		l.pass(r.At)
	}
	l.learn(r.At)
	l.at, l.value = r.At, v
	l.follow(r, v)
	if d := l.day(r.At); d != nil {
		d.count(1, v, v)
		l.total.count(1, v, v)
	}
}

// follow notes whether a run out of limits goes on, and whether a defrost is the
// reason: one that the device reported in it, or that had just ended before it.
func (l *Log) follow(r *rimewatch.Reading, v float64) {
	on, _ := r.Flags.Bool(rimewatch.DefrostActive)
	if !l.limits.Outside(v) {
		l.endRun()
		l.run.was = on
		return
	}
	if !l.run.going {
		first := sort.Search(len(l.days), func(i int) bool { return l.days[i].to > r.At })
		l.run = run{since: r.At, first: first, going: true, defrost: l.run.was, was: l.run.was}
	}
	l.run.defrost = l.run.defrost || on
}

// endRun settles what a run out of limits was.
func (l *Log) endRun() {
	if !l.run.going {
		return
	}
	defrost := l.run.defrost && l.at-l.run.since <= longestDefrost
	for i := l.run.first; i < len(l.days); i++ {
		l.days[i].settle(defrost)
	}
	l.total.settle(defrost)
	l.run = run{}
}

func (d *dayLog) settle(defrost bool) {
	if defrost {
		d.defrost += d.pending
	}
	d.pending = 0
}

// pass lets the last reading hold until to, or as long as it may.
func (l *Log) pass(to rimewatch.Time) {
	out := l.limits.Outside(l.value)
	for i := max(l.gaps.day, 0); i < len(l.days) && i <= l.gaps.day+1; i++ {
		d := &l.days[i]
		span := min(to, d.to, l.holds(i)) - max(l.at, d.from)
		if span <= 0 {
			continue
		}
		l.harm.Add(l.value, float64(span))
		l.held(max(l.at, d.from), max(l.at, d.from)+span, l.value)
		d.hold(span, l.value, out)
		l.total.hold(span, l.value, out)
	}
}

// AddHour takes an hour whose readings have expired. Hours come before readings,
// in order.
func (l *Log) AddHour(at rimewatch.Time, n int64, low, mean, high float64) {
	d := l.day(max(at, l.total.from))
	if d == nil || n == 0 {
		return
	}
	l.coarse = true
	span := min(at+rimewatch.Hour, d.to) - max(at, d.from)
	all, none := l.limits.Outside(low) && l.limits.Outside(high) && l.limits.Outside(mean), !l.limits.Outside(low) && !l.limits.Outside(high)
	for _, x := range []*dayLog{d, &l.total} {
		x.count(n, low, high)
		x.hold(span, mean, all)
		x.pending = 0 // why is not known of whole hours
		x.vague = x.vague || (!all && !none)
	}
	l.harm.Add(mean, float64(span))
	if begin := max(at, d.from); all {
		l.held(begin, begin+span, mean)
	} else if !none && begin+span > l.until-rimewatch.Day {
		l.last.vague = true
	}
}

// day finds the day of a moment, nil outside the period.
func (l *Log) day(at rimewatch.Time) *dayLog {
	i := sort.Search(len(l.days), func(i int) bool { return l.days[i].to > at })
	if i == len(l.days) || at < l.days[i].from {
		return nil
	}
	return &l.days[i]
}

func (d *dayLog) count(n int64, low, high float64) {
	if d.n == 0 {
		d.low, d.high = low, high
	}
	d.n += n
	d.low, d.high = min(d.low, low), max(d.high, high)
}

func (d *dayLog) hold(span rimewatch.Time, v float64, out bool) {
	d.covered += span
	d.heat += v * float64(span)
	if out {
		d.out += span
		d.pending += span
	}
}

// Finish returns the days from since on, when the device began to exist, or from
// its first reading where that is earlier.
func (l *Log) Finish(since rimewatch.Time) ([]Day, Totals) {
	if l.at != 0 {
		l.pass(l.until)
	}
	l.endRun()
	judged := l.limits.TempMin != nil || l.limits.TempMax != nil
	days := []Day{}
	var known, span rimewatch.Time
	for i := range l.days {
		d := &l.days[i]
		if len(days) == 0 && d.covered == 0 && d.n == 0 && d.to <= since {
			continue
		}
		from := d.from
		if len(days) == 0 && since > from && since < d.to {
			from = since // of the first day only what there was of it
		}
		whole := max(d.to-from, d.covered)
		known, span = known+d.covered, span+whole
		day := Day{Date: d.date, From: d.from, To: d.to, Coverage: share(d.covered, whole), Readings: d.n}
		day.Min, day.Mean, day.Max = d.values()
		if judged && d.covered > 0 && !d.vague {
			s := seconds(d.out)
			day.OutOfRangeS, day.InDefrostsS = &s, seconds(d.defrost)
		}
		days = append(days, day)
	}
	t := Totals{
		OutOfRangeS: seconds(l.total.out), InDefrostsS: seconds(l.total.defrost), Coverage: share(known, span),
		Readings: l.total.n, Implausible: l.implausible, Coarse: l.coarse,
	}
	if !l.last.vague {
		warm := int64(l.last.warm)
		t.Warm, t.Cold = &warm, int64(l.last.cold)
	}
	t.Min, t.Mean, t.Max = l.total.values()
	if l.total.covered > 0 && l.total.n > 0 {
		t.IntervalS = math.Round(float64(l.total.covered)/float64(l.total.n)) / 1000
		if judged && !l.total.vague {
			v := share(l.total.covered-l.total.out, l.total.covered)
			t.InRange = &v
		}
	}
	if v, ok := l.harm.Mean(); ok {
		t.Kinetic = rounded(v)
	}
	return days, t
}

func (d *dayLog) values() (low, mean, high *float64) {
	if d.n == 0 {
		return nil, nil, nil
	}
	m := d.low
	if d.covered > 0 {
		m = min(max(d.heat/float64(d.covered), d.low), d.high)
	}
	return rounded(d.low), rounded(m), rounded(d.high)
}

func seconds(t rimewatch.Time) int64 { return int64((t + rimewatch.Second/2) / rimewatch.Second) }

// rounded keeps the two decimals that are printed.
func rounded(v float64) *float64 {
	v = math.Round(v*100) / 100
	return &v
}

func share(part, whole rimewatch.Time) float64 {
	if whole <= 0 {
		return 0
	}
	return math.Round(1000*float64(part)/float64(whole)) / 10
}
