package clock

import (
	"slices"
	"sync"

	"github.com/rimewatch/rimewatch"
)

const (
	// AgreeToDelete is how long both clocks must have run alike before anything is
	// deleted for its age.
	AgreeToDelete = rimewatch.Hour
	// DevicesWithin is how far the median of what devices say the time is may be
	// from the service's time before nothing is deleted any more.
	DevicesWithin = rimewatch.Day

	witnessed = rimewatch.Hour
)

// Witness is the time by devices with a clock of their own, as far as
// they were heard in the last hour. A device has one voice, however often it
// reports: of those that share a place the last one is heard. The zero value has
// heard nobody. Its methods may be called at the same time.
type Witness struct {
	mu     sync.Mutex
	voices [1024]voice
}

type voice struct {
	heard rimewatch.Time // by the service's time
	ahead rimewatch.Time // of the service's time
}

// Saw notes that a device, or its serial as a number, claims that it measured at
// a moment.
func (w *Witness) Saw(device uint64, claims, now rimewatch.Time) {
	v := &w.voices[device*0x9e3779b97f4a7c15>>54]
	w.mu.Lock()
	*v = voice{now, claims - now}
	w.mu.Unlock()
}

// Agrees reports whether the median of what was heard in the last hour lies
// within a day of now. Nobody contradicts where nobody was heard.
func (w *Witness) Agrees(now rimewatch.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	var ahead []rimewatch.Time
	for i := range w.voices {
		if v := &w.voices[i]; v.heard != 0 && abs(now-v.heard) <= witnessed {
			ahead = append(ahead, v.ahead+v.heard-now)
		}
	}
	if len(ahead) == 0 {
		return true
	}
	slices.Sort(ahead)
	return abs(ahead[len(ahead)/2]) <= DevicesWithin
}
