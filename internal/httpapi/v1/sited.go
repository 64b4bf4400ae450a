package v1

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/limit"
	"github.com/rimewatch/rimewatch/internal/store"
)

// sitedWriter is a Writer that knows no devices outside the sites that the caller
// is limited to (see store.WithSites). Its methods about alerts look them up with
// the caller's context, which does the same.
type sitedWriter struct {
	Writer
	fleet store.Fleet
	tries *limit.Keyed
}

// registrationsPerHour is how often somebody who is limited to sites may register
// a device: each try says whether some device of the workspace has the serial.
const registrationsPerHour = 100

func (w sitedWriter) find(ctx context.Context, workspaceID int64, serial string) error {
	if store.SitesOf(ctx) == nil {
		return nil
	}
	_, err := w.fleet.Device(ctx, workspaceID, serial)
	return err
}

// Heartbeat implements Writer.
func (w sitedWriter) Heartbeat(ctx context.Context, workspaceID int64, serial string, hb rimewatch.Heartbeat) (v rimewatch.DeviceView, err error) {
	if err = w.find(ctx, workspaceID, serial); err == nil {
		v, err = w.Writer.Heartbeat(ctx, workspaceID, serial, hb)
	}
	return v, err
}

// CreateDevice implements Writer.
func (w sitedWriter) CreateDevice(ctx context.Context, d *rimewatch.Device) (rimewatch.DeviceView, error) {
	if store.SitesOf(ctx) == nil {
		return w.Writer.CreateDevice(ctx, d)
	}
	if !store.SitesOf(ctx).Has(d.SiteID) {
		return rimewatch.DeviceView{}, errOtherSite()
	}
	c := httpapi.CallOf(ctx)
	if _, wait := w.tries.Take(c.Caller(), c.Now); wait > 0 {
		return rimewatch.DeviceView{}, httpapi.ErrRateLimited(wait)
	}
	v, err := w.Writer.CreateDevice(ctx, d)
	if rimewatch.CodeOf(err) == rimewatch.CodeSerialTaken && w.find(ctx, d.WorkspaceID, d.Serial) != nil {
		return v, rimewatch.Invalid("serial", "cannot be registered by somebody who is limited to sites")
	}
	return v, err
}

// UpdateDevice implements Writer. It takes no device away from the caller's sites.
func (w sitedWriter) UpdateDevice(ctx context.Context, workspaceID int64, serial string, change func(*rimewatch.Device) error) (v rimewatch.DeviceView, err error) {
	if err = w.find(ctx, workspaceID, serial); err != nil {
		return v, err
	}
	return w.Writer.UpdateDevice(ctx, workspaceID, serial, func(d *rimewatch.Device) error {
		if err := change(d); err != nil {
			return err
		}
		if !store.SitesOf(ctx).Has(d.SiteID) {
			return errOtherSite()
		}
		return nil
	})
}

// DeleteDevice implements Writer.
func (w sitedWriter) DeleteDevice(ctx context.Context, workspaceID int64, serial string) (v rimewatch.DeviceView, err error) {
	if err = w.find(ctx, workspaceID, serial); err == nil {
		v, err = w.Writer.DeleteDevice(ctx, workspaceID, serial)
	}
	return v, err
}

func errOtherSite() error {
	return rimewatch.Invalid("site_id", "must be one of the sites that you are limited to")
}
