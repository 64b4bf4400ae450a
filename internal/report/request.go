package report

import "github.com/rimewatch/rimewatch"

// MaxExcursions bounds a list of excursions. More is refused, not cut off.
const MaxExcursions = 10_000

// Bounds are how much one report may hold.
type Bounds struct {
	Devices    int
	DeviceDays int64
}

// Background are the bounds of a log that nobody waits for: a month of 6,000 devices.
var Background = Bounds{Devices: 10_000, DeviceDays: 200_000}

// Check reports what is too much about a log of some devices over [from, to):
// CodeValidationFailed.
func (b Bounds) Check(devices int, from, to rimewatch.Time) error {
	switch days := int64((to - from) / rimewatch.Day); {
	case devices > b.Devices:
		return rimewatch.Invalid("site_id", "a log has at most %d devices, choose a site or a device", b.Devices)
	case days*int64(devices) > b.DeviceDays:
		return rimewatch.Invalid("from", "a log covers at most %d days of all its devices together, choose a shorter period or fewer devices", b.DeviceDays)
	}
	return nil
}

// Request is a report that is to be filled.
type Request struct {
	Workspace int64
	Report    *Report
	Devices   []rimewatch.DeviceView
	Progress  func(done int) // nil = nobody looks
}
