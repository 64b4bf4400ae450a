package app

import "github.com/rimewatch/rimewatch/internal/ingest"

// both publishes to two.
type both struct{ first, second ingest.Publisher }

// Publish implements ingest.Publisher.
func (b both) Publish(p *ingest.Published) {
	b.first.Publish(p)
	b.second.Publish(p)
}

// publishers joins two publishers, of which the second may be nil.
func publishers(first, second ingest.Publisher) ingest.Publisher {
	if second == nil {
		return first
	}
	return both{first, second}
}
