package ingest

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// maxOffsets bounds the offsets of one device: its configuration carries them.
const maxOffsets = 200

// Calibrate records a calibration of one of a device's probes, and corrects the probe's
// measurements from AppliedFrom on, in one step: CodeDeviceNotFound,
// CodeConflict when the device has had too many. complete runs on the device as
// it is, before its offsets change; it may fill in c or refuse.
func (s *Service) Calibrate(ctx context.Context, workspaceID int64, serial string, c *rimewatch.Calibration, complete func(*rimewatch.Device) error) (rimewatch.DeviceView, error) {
	return s.updateDevice(ctx, store.DeviceOp{WorkspaceID: workspaceID, Serial: serial, Calibration: c}, func(d *rimewatch.Device) error {
		if err := complete(d); err != nil {
			return err
		}
		if len(d.Offsets) >= maxOffsets {
			return rimewatch.Errorf(rimewatch.CodeConflict, "The device already has %d offsets, the maximum.", maxOffsets)
		}
		c.Apply(d)
		return nil
	})
}
