package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	growthBatch  = 1000
	singleLoad   = 3 * time.Second // of single POSTs, at most
	groundLoad   = 4 * time.Second // of other orders, at most
	longest      = 10_000          // devices of the size that is looked at longest
	million      = 1_000_000       // devices of the size that is measured once
	growthWarm   = 2               // readings of every device before anything is measured
	ownMemory    = 60e6            // bytes that the service may take without any device
	worstSingles = 2000            // single POSTs a second where the worst is looked for
	worstBatches = 20              // batches a second beside them
	worstConns   = 32
)

// growth measures what a device costs as the fleet grows.
type growth struct {
	o     *options
	feed  *feed
	table *table
}

// benchGrowth: the same load at several sizes of the fleet, with VictoriaMetrics
// and the bare handler beside it. Who is not measured is paused, so that it
// neither disturbs nor works off what it owes outside its own time.
func benchGrowth(o *options) error {
	columns := make([]string, 0, len(o.devices))
	for _, n := range o.devices {
		columns = append(columns, thousands(n))
	}
	began := time.Now()
	heading("Growth: devices report once a minute in turn, batches of %d over %d connections", growthBatch, feedConns)
	busy := loadAverage()
	f, err := newFeed()
	if err != nil {
		return err
	}
	g := &growth{o: o, feed: f, table: newTable(columns)}
	for _, n := range o.devices {
		if err := g.size(n); err != nil {
			return fmt.Errorf("%d devices: %w", n, err)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nMedians of %d × %v, with %s devices of %d × %v, with a million 1 × %v; %d cores, shared with the generator; load average before: %s; %.0f minutes in all.\n\n",
		o.rounds, o.load, thousands(longest), o.rounds, 2*o.load, o.load, runtime.NumCPU(), busy, time.Since(began).Minutes())
	if err := g.table.write(&b); err != nil {
		return err
	}
	fmt.Print(b.String())
	if o.doc != "" {
		return intoDocument(o.doc, b.String())
	}
	return nil
}

// loadAverage is how many processes wanted to run in the last minute: beside
// other work only ratios say something.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "not known"
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

// thousands writes a number with its thousands apart.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// fleet is what runs at one size.
type fleet struct {
	*growth
	n           int
	column      string
	dir         string
	ours        *server
	yard        *server // the bare handler
	victoria    *server // nil where it is not installed
	feed, other *feed   // of ours and of VictoriaMetrics
	sent        int64   // readings to ours so far
	sentOther   int64
}

func (g *growth) size(n int) (err error) {
	x := &fleet{growth: g, n: n, column: thousands(n), dir: filepath.Join(g.o.dir, "growth"+strconv.Itoa(n)), feed: g.feed.fleet(n), other: g.feed.fleet(n)}
	defer func() {
		for _, s := range []*server{x.ours, x.yard, x.victoria} {
			if s != nil {
				s.kill()
			}
		}
		if !g.o.keep {
			_ = os.RemoveAll(x.dir)
		}
	}()
	if err := x.start(); err != nil {
		return err
	}
	for _, step := range []struct {
		name string
		run  func() error
	}{
		{"create", x.create}, {"warm", x.warm}, {"batches", x.batches}, {"memory", x.memory}, {"single", x.singles}, {"grounds", x.grounds}, {"worst", x.worst},
		{"queries", x.queries}, {"recovery", x.recovery}, {"rest", x.rest}, {"month", x.month},
	} {
		began := time.Now()
		if g.o.parts != "" && !strings.Contains(g.o.parts, step.name) || g.o.parts == "" && !x.takes(step.name) {
			continue
		}
		if err := step.run(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		row(fmt.Sprintf("%s devices, %s", x.column, step.name), fmt.Sprintf("%.1f s", time.Since(began).Seconds()), "", true)
	}
	return nil
}

// takes reports whether a step is taken at this size unless other steps are asked
// for: those that last are taken at one size.
func (x *fleet) takes(step string) bool {
	switch step {
	case "grounds", "worst":
		return x.n == longest || len(x.o.devices) == 1
	}
	return true
}

// rounds is how often a load is measured.
func (x *fleet) rounds() int {
	if x.n >= million {
		return 1
	}
	return x.o.rounds
}

// set fills a cell and prints it at once: a long run shows where it is.
func (x *fleet) set(what, goal, format string, args ...any) {
	x.table.set(what, x.column, goal, format, args...)
	row(what, fmt.Sprintf(format, args...), goal, true)
}

func (x *fleet) start() (err error) {
	if x.ours, err = start("child-app", filepath.Join(x.dir, "ours")); err != nil {
		return err
	}
	if x.yard, err = start("child-bare"); err != nil {
		return err
	}
	if x.o.alone {
		return nil
	}
	if x.victoria, err = startVictoria(filepath.Join(x.dir, "victoria")); err != nil {
		return err
	}
	if x.victoria == nil {
		row("VictoriaMetrics", "not installed", "", true)
	}
	return nil
}

// only lets one of the servers run.
func (x *fleet) only(s *server) {
	for _, other := range []*server{x.ours, x.yard, x.victoria} {
		if other != nil && other != s {
			other.pause(true)
		}
	}
	s.pause(false)
}

func (x *fleet) create() error {
	x.only(x.ours)
	return x.o.profiled(x.ours, fmt.Sprintf("growth%d-create", x.n), func() error { return x.ours.register(x.n) })
}

// warm sends the first readings of every device.
func (x *fleet) warm() error {
	perConn := (growthWarm*x.n/growthBatch + feedConns - 1) / feedConns
	x.only(x.ours)
	r, err := drive(x.ours.addr, feedConns, time.Hour, 200, upTo(perConn, x.feed.batches(growthBatch, x.ours.token, inTurn)))
	x.sent += r.count * growthBatch
	if err != nil || x.victoria == nil {
		return err
	}
	x.only(x.victoria)
	r, err = drive(x.victoria.addr, feedConns, time.Hour, 204, upTo(perConn, x.other.lines(growthBatch, x.victoria.token, inTurn)))
	x.sentOther += r.count * growthBatch
	if err != nil {
		return fmt.Errorf("VictoriaMetrics: %w", err)
	}
	return nil
}

// load drives one server for a span while the others are paused; each is how
// many readings a request holds.
func (x *fleet) load(s *server, conns int, span time.Duration, each int, next func(w, n int, buf []byte) []byte) (result, error) {
	x.only(s)
	want := 201
	switch {
	case s == x.victoria:
		want = 204
	case s == x.ours && each > 1:
		want = 200
	}
	cpu, own := s.cpu(), ownCPU()
	r, err := drive(s.addr, conns, span, want, next)
	r.cpu, r.own = s.cpu()-cpu, ownCPU()-own
	r.count *= int64(each)
	switch s {
	case x.ours:
		x.sent += r.count
	case x.victoria:
		x.sentOther += r.count
	}
	return r, err
}

// median is the result in the middle by its rate.
func median(rs []result) result {
	slices.SortFunc(rs, func(a, b result) int {
		if a.rate() < b.rate() {
			return -1
		}
		return 1
	})
	return rs[len(rs)/2]
}

// pair measures ours and VictoriaMetrics in turn, and returns the medians.
func (x *fleet) pair(rounds int, span time.Duration, next order) (ours, other result, err error) {
	var mine, theirs []result
	for range rounds {
		r, err := x.load(x.ours, feedConns, span, growthBatch, x.feed.batches(growthBatch, x.ours.token, next))
		if err != nil {
			return ours, other, err
		}
		mine = append(mine, r)
		if x.victoria == nil {
			continue
		}
		if r, err = x.load(x.victoria, feedConns, span, growthBatch, x.other.lines(growthBatch, x.victoria.token, next)); err != nil {
			return ours, other, fmt.Errorf("VictoriaMetrics: %w", err)
		}
		theirs = append(theirs, r)
	}
	if len(theirs) > 0 {
		other = median(theirs)
	}
	return median(mine), other, nil
}

// batches is the load that counts.
func (x *fleet) batches() error {
	x.only(x.ours)
	if _, err := x.ours.order("worst"); err != nil {
		return err
	}
	var ours, other result
	err := x.o.profiled(x.ours, "growth"+strconv.Itoa(x.n), func() (err error) {
		span := x.o.load
		if x.n == longest { // with sealing and checkpoints going all the time
			span *= 2
		}
		ours, other, err = x.pair(x.rounds(), span, inTurn)
		x.only(x.ours)
		return err
	})
	if err != nil {
		return err
	}
	x.set("**batches in turn**, readings/s", "", "%s", rate(&ours))
	if x.victoria != nil {
		x.set("VictoriaMetrics", "", "%s", rate(&other))
		x.set("ratio", "≥ 2 at 10,000", "%.2f", ours.rate()/other.rate())
	}
	x.set("server CPU a reading, µs", "≤ 1.9, ≤ 1.5 × that of 1,000", "%.2f", ours.cpuEach())
	if x.victoria != nil {
		x.set("VictoriaMetrics, µs", "", "%.2f", other.cpuEach())
	}
	x.set("generator's CPU a reading, µs (of all cores)", "", "%.2f (%.0f %%)", ours.ownEach(), ours.ownShare())
	x.set("batch p50 / p99 / worst, ms", "", "%.0f / %.0f / %.0f", ms(ours.quantile(.5)), ms(ours.quantile(.99)), ms(ours.quantile(1)))
	worst, err := x.ours.order("worst")
	if err != nil {
		return err
	}
	x.set("longest commit while sealing, batches as fast as they are answered, ms", "", "%.0f", float64(worst[0])/1e6)
	return nil
}

func rate(r *result) string { return fmt.Sprintf("%.0fk", r.rate()/1e3) }

func (x *fleet) memory() error {
	each := func(s *server) float64 { return (float64(s.rss()) - ownMemory) / float64(x.n) / 1e3 }
	x.set("memory a device beyond 60 MB, kB (resident, MB)", "≤ 5", "%.1f (%.0f)", max(each(x.ours), 0), float64(x.ours.rss())/1e6)
	if x.victoria != nil {
		x.set("VictoriaMetrics, kB (MB)", "", "%.1f (%.0f)", max(each(x.victoria), 0), float64(x.victoria.rss())/1e6)
	}
	x.only(x.ours)
	if err := x.tellMemory(); err != nil || x.o.profile == "" {
		return err
	}
	_, err := x.ours.order("heap " + filepath.Join(x.o.profile, fmt.Sprintf("growth%d.heap", x.n)))
	return err
}

// singles: one reading a POST, beside a handler that only reads and answers.
func (x *fleet) singles() error {
	for _, conns := range []int{64, 256} {
		x.only(x.ours)
		err := x.o.profiled(x.ours, fmt.Sprintf("growth%d-single%d", x.n, conns), func() error {
			err := x.single(conns)
			x.only(x.ours)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (x *fleet) single(conns int) error {
	var bare, mine, theirs []result
	// A device may send 1,000 at once; six such spans are not to use that up.
	span := min(x.o.load/2, singleLoad, time.Duration(x.n)*2*time.Millisecond)
	yard, ours, other := x.feed.over(conns), x.feed.over(conns), x.other.over(conns)
	yard.next = slices.Clone(yard.next)
	for range min(x.rounds(), 3) {
		b, err := x.load(x.yard, conns, span, 1, yard.singles(x.yard.token, inTurn))
		if err != nil {
			return err
		}
		m, err := x.load(x.ours, conns, span, 1, ours.singles(x.ours.token, inTurn))
		if err != nil {
			return err
		}
		bare, mine = append(bare, b), append(mine, m)
		if x.victoria == nil {
			continue
		}
		v, err := x.load(x.victoria, conns, span, 1, other.lines(1, x.victoria.token, inTurn))
		if err != nil {
			return err
		}
		theirs = append(theirs, v)
	}
	b, m := median(bare), median(mine)
	goal := map[int]string{64: "≥ 0.70", 256: "≥ 0.85"}[conns]
	x.set(fmt.Sprintf("**single POST, %d connections**, /s", conns), "at 100,000 ≥ 0.9 × that of 10,000", "%s", rate(&m))
	x.set(fmt.Sprintf("p50 / p99 / worst at %d, ms", conns), "", "%.1f / %.1f / %.0f", ms(m.quantile(.5)), ms(m.quantile(.99)), ms(m.quantile(1)))
	x.set(fmt.Sprintf("bare handler at %d, ratio", conns), goal, "%s, %.2f", rate(&b), m.rate()/b.rate())
	if len(theirs) > 0 {
		v := median(theirs)
		x.set(fmt.Sprintf("VictoriaMetrics at %d, ratio", conns), "≥ 1.2", "%s, %.2f", rate(&v), m.rate()/v.rate())
	}
	x.set(fmt.Sprintf("server CPU a POST at %d, bare / ours, µs", conns), "", "%.1f / %.1f", b.cpuEach(), m.cpuEach())
	return nil
}
