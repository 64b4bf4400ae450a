package app

import (
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/ingest"
)

// objects lets the stream send what the REST API answers.
type objects struct{ httpapi.Objects }

// Summary appends the health summary.
func (o objects) Summary(b []byte, s *ingest.Summary) ([]byte, error) {
	summary := httpapi.Summary(*s)
	return o.Objects.Summary(b, &summary)
}

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
