package httpapi

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Body reads a body of at most MaxSingleBody bytes. Those that are held at a time
// are counted by workspace once they are larger than promptBody; beyond its share
// a workspace waits a little and is then turned away. The caller calls release,
// which is never nil, when it is done with the body.
func (a *API) Body(w http.ResponseWriter, r *http.Request, workspaceID int64, buf []byte) (body []byte, release func(), e *rimewatch.Error) {
	release = func() {}
	body, e = readBody(w, r, buf, MaxSingleBody, func() (e *rimewatch.Error) {
		release, e = a.bodies.take(r.Context(), workspaceID)
		return e
	})
	return body, release, e
}

// BulkBody is Body for a body of at most maxBulkBody bytes, which takes its place
// before it is read, unless it is as small as a single reading's.
func (a *API) BulkBody(w http.ResponseWriter, r *http.Request, workspaceID int64, buf []byte) (body []byte, release func(), e *rimewatch.Error) {
	if r.ContentLength >= 0 && r.ContentLength <= MaxSingleBody && r.Header.Get("Content-Encoding") == "" {
		return a.Body(w, r, workspaceID, buf)
	}
	if release, e = a.bulk.take(r.Context(), workspaceID); e != nil {
		return buf, release, e
	}
	body, e = readBody(w, r, buf, maxBulkBody, nil)
	return body, release, e
}

// places bound what is held at a time, in all and by workspace. Each workspace
// has one place of its own, so that others can slow it down and never keep it out.
type places struct {
	share int
	all   chan struct{}

	mu sync.Mutex
	by map[int64]*workspacePlaces
}

type workspacePlaces struct {
	own  chan struct{} // the one that nobody else takes
	more chan struct{} // those that it has of all
}

// How many bodies are held: with them at their largest 256 MiB and 128 MiB.
const (
	bulkAll         = 16
	bulkWorkspace   = 8
	bodiesAll       = 128
	bodiesWorkspace = 32
	placeWait       = 2 * time.Second
)

func newPlaces(all, share int) *places {
	return &places{share: share, all: make(chan struct{}, all), by: make(map[int64]*workspacePlaces)}
}

func (b *places) of(workspaceID int64) *workspacePlaces {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.by[workspaceID]
	if w == nil {
		w = &workspacePlaces{make(chan struct{}, 1), make(chan struct{}, b.share-1)}
		b.by[workspaceID] = w
	}
	return w
}

// take waits a little for a place: CodeRateLimited when there is none. release is
// never nil.
func (b *places) take(ctx context.Context, workspaceID int64) (release func(), e *rimewatch.Error) {
	w := b.of(workspaceID)
	timer := time.NewTimer(placeWait)
	defer timer.Stop()
	var taken []chan struct{}
	release = func() {
		for _, c := range taken {
			<-c
		}
	}
	for _, c := range []chan struct{}{w.more, b.all} {
		select {
		case w.own <- struct{}{}:
			release()
			return func() { <-w.own }, nil
		case c <- struct{}{}:
			taken = append(taken, c)
			continue
		case <-timer.C:
			e = ErrRateLimited(time.Second)
			e.Message = "Too many large uploads at once."
		case <-ctx.Done():
			e = rimewatch.Errorf(rimewatch.CodeUnavailable, "The request was cancelled.")
		}
		release()
		return func() {}, e
	}
	return release, nil
}
