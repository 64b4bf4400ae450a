package app

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/ingest"
	"github.com/rimewatch/rimewatch/internal/source"
)

// writer is the write path as the API sees it: a device that is created gets what
// has waited for it.
type writer struct {
	*ingest.Service
	sources *source.Service
}

// CreateDevice creates a device, and stores what was kept of it.
func (w writer) CreateDevice(ctx context.Context, d *rimewatch.Device) (rimewatch.DeviceView, error) {
	v, err := w.Service.CreateDevice(ctx, d)
	if err == nil {
		w.sources.Registered(ctx, d.WorkspaceID, d.Serial)
	}
	return v, err
}
