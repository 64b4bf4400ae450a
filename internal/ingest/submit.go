package ingest

import (
	"context"

	"github.com/rimewatch/rimewatch/internal/store"
)

// Submit commits readings, with their devices' reports of themselves, and sets the readings'
// outcomes. Every input must be an InputReading; the caller has resolved each DeviceID within its
// workspace. Large batches are split into several commits, one after the other: after an error the
// first of them may be stored, and are duplicates, if they have times of their own, when they are
// sent again.
func (s *Service) Submit(ctx context.Context, inputs []store.Input, vitals []store.Vitals) error {
	if came := store.ArrivalOf(ctx).At; came != 0 {
		for i := range inputs {
			if inputs[i].AtArrival {
				inputs[i].Reading.ReceivedAt = came
			}
		}
	}
	r := s.inbox.pool.Get().(*request)
	r.inputs = inputs
	r.addReports(s, vitals)
	var err error
	if ends := s.cfg.portions(ctx, inputs); len(ends) > 1 {
		err = s.inbox.sendAll(ctx, r, ends)
	} else {
		err = s.inbox.send(ctx, r)
	}
	r.inputs, r.beats, r.devices, r.answer = nil, nil, nil, nil
	s.inbox.pool.Put(r)
	return err
}

const (
	quietPortions = 4  // portions that are committed as one where few alerts come of them
	quietShare    = 10 // of so many devices one alert is few
)

// portions returns the ends of the portions in which inputs are committed, nil when they are not
// split: a request whose answer is kept is one commit. The readings of a device are in one
// portion, since its last one decides the present state.
func (c *Config) portions(ctx context.Context, inputs []store.Input) (ends []int) {
	if len(inputs) <= quietPortions*c.CallerDevices || store.AnswerOf(ctx) != nil {
		return nil
	}
	last := make(map[int64]int, c.CallerDevices) // of each device
	for i := range inputs {
		if i+1 == len(inputs) || inputs[i+1].DeviceID != inputs[i].DeviceID {
			last[inputs[i].DeviceID] = i
		}
	}
	devices, reach := 0, 0 // of the portion: those that have had their last reading, and where all have
	for i := range inputs {
		at := last[inputs[i].DeviceID]
		reach = max(reach, at)
		if at == i {
			devices++
		}
		if reach == i && (devices >= c.CallerDevices || i == len(inputs)-1) {
			ends, devices = append(ends, i+1), 0
		}
	}
	return ends
}
