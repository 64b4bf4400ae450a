package ingest

import "time"

// Loading reports whether states of devices are still being read after a start.
// Readings are taken meanwhile; the sums of a fleet are not complete.
func (s *Service) Loading() bool {
	return s.known.loading()
}

// Loaded is closed when Loading is over.
func (s *Service) Loaded() <-chan struct{} { return s.known.loaded }

// loadRest has all pending units catch up, between the groups that come meanwhile.
// It returns false when the service is stopping.
func (s *Service) loadRest() bool {
	for s.Loading() {
		var err error
		if !s.inbox.call(func(w *writer) { err = w.pending.catchUpNext() }) {
			return false
		}
		if err != nil {
			s.troubled("read the states of devices", err)
			select {
			case <-s.inbox.stopping:
				return false
			case <-time.After(time.Second):
			}
		}
	}
	return true
}
