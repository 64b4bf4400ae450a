package app

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/ingest"
	"github.com/rimewatch/rimewatch/internal/source"
)

// writer is the write path as people see it: a device that is created gets what has
// waited for it.
type writer struct {
	*ingest.Service
	sources *source.Service
}

// CreateDevice implements v1.Writer.
func (w writer) CreateDevice(ctx context.Context, d *rimewatch.Device) (rimewatch.DeviceView, error) {
	return w.sources.CreateDevice(ctx, d)
}
