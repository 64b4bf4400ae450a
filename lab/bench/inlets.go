package bench

import (
	"fmt"
	"path/filepath"
	"slices"
)

// What line protocol is held against.
const (
	linesRounds = 3
	linesShare  = 0.5 // of the rate of JSON batches
)

// benchInlets: Influx line protocol against JSON batches, the same readings of the
// same devices in turn, on one server.
func benchInlets(o *options) error {
	heading("Line protocol: %d lines a request, ten minutes of a device in each, %d connections", batchItems, batchConns)
	s, err := start("child-app", filepath.Join(o.dir, "inlets"))
	if err != nil {
		return err
	}
	defer s.kill()
	if err := s.register(batchDevices); err != nil {
		return err
	}
	f, err := newFeed()
	if err != nil {
		return err
	}
	f = f.fleet(batchDevices).over(batchConns)
	var sent int64
	var ratios []float64
	for round := range linesRounds {
		before := s.cpu()
		json, err := drive(s.addr, batchConns, o.span(), 200, f.batches(batchItems, s.token, friendly))
		if err != nil {
			return err
		}
		json.cpu = s.cpu() - before
		var lines result
		err = o.profiled(s, fmt.Sprintf("lines%d", round), func() (err error) {
			before := s.cpu()
			lines, err = drive(s.addr, batchConns, o.span(), 204, f.lines(batchItems, s.token, friendly))
			lines.cpu = s.cpu() - before
			return err
		})
		if err != nil {
			return err
		}
		sent += (json.count + lines.count) * batchItems
		ratios = append(ratios, lines.rate()/json.rate())
		row("JSON batches / line protocol", fmt.Sprintf("%.0f / %.0f /s", json.rate()*batchItems, lines.rate()*batchItems), "", true)
		row("  server CPU a reading", fmt.Sprintf("%.2f / %.2f µs", json.cpuEach()/batchItems, lines.cpuEach()/batchItems), "", true)
	}
	slices.Sort(ratios)
	share := ratios[len(ratios)/2]
	row("line protocol against JSON, the median", fmt.Sprintf("%.0f %%", 100*share), fmt.Sprintf("≥ %.0f %%", 100*linesShare), share >= linesShare)
	stats, err := s.order("stats")
	if err != nil {
		return err
	}
	if stats[1] != sent {
		return fmt.Errorf("%d readings are stored, %d were acknowledged", stats[1], sent)
	}
	return nil
}
