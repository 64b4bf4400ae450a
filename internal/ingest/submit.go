package ingest

import (
	"context"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Submit commits readings, with what their devices say of themselves beside them, and
// sets the readings' outcomes. Every input must be an InputReading; whoever calls has
// resolved each DeviceID within its workspace. Those of very many devices are committed
// in portions, one after the other: after an error the first of them may be stored, and
// are duplicates, if they have times of their own, when they are sent again.
func (s *Service) Submit(ctx context.Context, inputs []store.Input, vitals []store.Vitals) error {
	if came := store.ArrivalOf(ctx).At; came != 0 {
		for i := range inputs {
			if inputs[i].AtArrival {
				inputs[i].Reading.ReceivedAt = came
			}
		}
	}
	r := s.pool.Get().(*request)
	r.inputs = inputs
	r.hear(s, vitals)
	var err error
	if ends := s.cfg.portions(ctx, inputs); len(ends) > 1 {
		err = r.sendAll(ctx, s, ends)
	} else {
		err = s.send(ctx, r)
	}
	r.inputs, r.beats, r.devices, r.answer = nil, nil, nil, nil
	s.pool.Put(r)
	return err
}

const (
	quietPortions = 4  // portions that are committed as one where few alerts come of them
	quietShare    = 10 // of so many devices one alert is few
)

// portions returns where inputs may be parted to be committed one portion after the
// other, nil when they are not: what has an answer that is kept is not torn apart. The
// readings of a device are in one portion, since its last one says what holds now.
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

// send queues a request and waits for its commit. Once queued it is waited for
// in any case: the writer still works with what the caller handed over.
func (s *Service) send(ctx context.Context, r *request) error {
	if err := cancelled(ctx); err != nil {
		return err
	}
	r.answer = store.AnswerOf(ctx)
	if err := s.enqueue(r); err != nil {
		return err
	}
	return <-r.done
}

// sendAll sends the portions of a request, each when the one before is committed. Whether
// there is room for them is asked once, and a stop waits for all of them.
func (r *request) sendAll(ctx context.Context, s *Service, ends []int) error {
	if err := cancelled(ctx); err != nil {
		return err
	}
	if err := r.begin(s); err != nil {
		return err
	}
	defer s.portioned.Done()
	all, begin, together := r.inputs, 0, 1
	for len(ends) > 0 {
		k := min(together, len(ends))
		end := ends[k-1]
		ends = ends[k:]
		if r.inputs = all[begin:end]; begin > 0 {
			s.waiting.Add(1) // a request counts for one by itself
		}
		s.queue <- r
		if err := <-r.done; err != nil {
			s.waiting.Add(-int64(len(all) - end))
			return err
		}
		if together = min(2*together, quietPortions); r.alerts > s.cfg.CallerDevices/quietShare {
			together = 1
		}
		r.beats, r.devices, begin = nil, nil, end
	}
	return nil
}

func (r *request) begin(s *Service) error {
	s.senders.RLock()
	defer s.senders.RUnlock()
	if err := r.admit(s); err != nil {
		return err
	}
	s.portioned.Add(1)
	return nil
}

func cancelled(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return rimewatch.Wrap(rimewatch.CodeUnavailable, err, "The request was cancelled.")
	}
	return nil
}

func (s *Service) enqueue(r *request) error {
	s.senders.RLock()
	defer s.senders.RUnlock()
	if err := r.admit(s); err != nil {
		return err
	}
	select {
	case s.queue <- r:
		return nil
	default:
		s.waiting.Add(-int64(r.weight()))
		return errBusy()
	}
}

// admit counts the request among what waits, unless the service stops or there is no room
// for it. s.senders is held.
func (r *request) admit(s *Service) error {
	if s.stopped.Load() {
		return unavailable("The service is stopping.")
	}
	n := int64(r.weight())
	if s.waiting.Add(n) > int64(s.cfg.QueueInputs) && n < s.waiting.Load() {
		s.waiting.Add(-n)
		return errBusy()
	}
	return nil
}

func errBusy() error { return unavailable("The service is busy.") }

func unavailable(message string) error {
	return &rimewatch.Error{Code: rimewatch.CodeUnavailable, Message: message, RetryAfter: time.Second}
}
