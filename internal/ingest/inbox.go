package ingest

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

const queueRequests = 16_384

// inbox is where requests wait for the writer goroutine.
type inbox struct {
	most       int64 // inputs that may wait
	manyAlerts int   // of a portion, after which the next comes alone

	queue     chan *request
	calls     chan func(*writer) // to be run by the writer goroutine between two groups
	waiting   atomic.Int64       // inputs in the queue
	pool      sync.Pool          // of *request
	stopping  chan struct{}
	stopped   atomic.Bool
	senders   sync.RWMutex   // locked for reading while a request is being queued
	portioned sync.WaitGroup // requests that come in portions
}

func newInbox(cfg *Config) *inbox {
	return &inbox{
		most: int64(cfg.QueueInputs), manyAlerts: cfg.CallerDevices / quietShare,
		queue: make(chan *request, queueRequests), calls: make(chan func(*writer)), stopping: make(chan struct{}),
		pool: sync.Pool{New: func() any { return &request{done: make(chan error, 1)} }},
	}
}

// stop refuses new requests and lets those end that come in portions.
func (x *inbox) stop() {
	x.senders.Lock()
	x.stopped.Store(true)
	x.senders.Unlock()
	x.portioned.Wait()
	close(x.stopping)
}

// call runs f on the writer goroutine, between two groups. It returns false when
// the service is stopping.
func (x *inbox) call(f func(*writer)) bool {
	done := make(chan struct{})
	select {
	case x.calls <- func(w *writer) { f(w); close(done) }:
	case <-x.stopping:
		return false
	}
	<-done
	return true
}

// send queues a request and waits for its commit. Once queued it is waited for
// in any case: the writer still works with the caller's memory.
func (x *inbox) send(ctx context.Context, r *request) error {
	if err := cancelled(ctx); err != nil {
		return err
	}
	r.answer = store.AnswerOf(ctx)
	if err := x.enqueue(r); err != nil {
		return err
	}
	return <-r.done
}

// sendAll sends the portions of a request, each when the one before is committed. Whether
// there is room for them is asked once, and a stop waits for all of them.
func (x *inbox) sendAll(ctx context.Context, r *request, ends []int) error {
	if err := cancelled(ctx); err != nil {
		return err
	}
	if err := x.begin(r); err != nil {
		return err
	}
	defer x.portioned.Done()
	all, begin, together := r.inputs, 0, 1
	for len(ends) > 0 {
		k := min(together, len(ends))
		end := ends[k-1]
		ends = ends[k:]
		if r.inputs = all[begin:end]; begin > 0 {
			x.waiting.Add(1) // a request counts for one by itself
		}
		x.queue <- r
		if err := <-r.done; err != nil {
			x.waiting.Add(-int64(len(all) - end))
			return err
		}
		if together = min(2*together, quietPortions); r.alerts > x.manyAlerts {
			together = 1
		}
		r.beats, r.devices, begin = nil, nil, end
	}
	return nil
}

func (x *inbox) begin(r *request) error {
	x.senders.RLock()
	defer x.senders.RUnlock()
	if err := x.admit(r); err != nil {
		return err
	}
	x.portioned.Add(1)
	return nil
}

func cancelled(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return rimewatch.Wrap(rimewatch.CodeUnavailable, err, "The request was cancelled.")
	}
	return nil
}

func (x *inbox) enqueue(r *request) error {
	x.senders.RLock()
	defer x.senders.RUnlock()
	if err := x.admit(r); err != nil {
		return err
	}
	select {
	case x.queue <- r:
		return nil
	default:
		x.waiting.Add(-int64(r.weight()))
		return errBusy()
	}
}

// admit counts the request among those that wait, unless the service stops or there is no room for
// it. x.senders is locked.
func (x *inbox) admit(r *request) error {
	if x.stopped.Load() {
		return unavailable("The service is stopping.")
	}
	n := int64(r.weight())
	if x.waiting.Add(n) > x.most && n < x.waiting.Load() {
		x.waiting.Add(-n)
		return errBusy()
	}
	return nil
}

func errBusy() error { return unavailable("The service is busy.") }

func unavailable(message string) error {
	return &rimewatch.Error{Code: rimewatch.CodeUnavailable, Message: message, RetryAfter: time.Second}
}
