package main

import (
	"fmt"
	"path/filepath"
	"time"
)

// benchMemory: resident memory with very many devices and a full head, and the
// start after a kill −9 with it.
func benchMemory(o *options) error {
	devices, n := 100_000, 20
	if o.quick {
		devices = 10_000
	}
	heading("Memory: %d devices with a full head", devices)
	dir := filepath.Join(o.dir, "memory")
	s, err := start("child-app", dir)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := createDevices(s, devices, ""); err != nil {
		s.kill()
		return err
	}
	row("devices created through the API", fmt.Sprintf("%.0f/s", float64(devices)/time.Since(began).Seconds()), "", true)
	if _, err := fill(s, devices, n); err != nil {
		s.kill()
		return err
	}
	stats, err := s.order("stats")
	if err != nil {
		s.kill()
		return err
	}
	row("readings in the head", fmt.Sprint(stats[2]), "", true)
	row("resident memory", fmt.Sprintf("%.0f MB", float64(s.rss())/1e6), "< 300 MB", s.rss() < 300e6)
	if o.profile != "" {
		if _, err := s.order("heap " + filepath.Join(o.profile, "memory.pprof")); err != nil {
			s.kill()
			return err
		}
	}
	s.kill()
	again, err := start("child-app", dir)
	if err != nil {
		return err
	}
	defer again.kill()
	row("ready again after kill -9", fmt.Sprintf("%.2f s", again.started.Seconds()), "", true)
	row("  resident memory", fmt.Sprintf("%.0f MB", float64(again.rss())/1e6), "", true)
	return nil
}
