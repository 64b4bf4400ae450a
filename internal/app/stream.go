package app

import (
	"github.com/rimewatch/rimewatch/internal/ingest"
	"github.com/rimewatch/rimewatch/internal/publish"
)

// both publishes to two.
type both struct{ first, second ingest.Publisher }

// Publish implements ingest.Publisher.
func (b both) Publish(p *publish.Commit) {
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
