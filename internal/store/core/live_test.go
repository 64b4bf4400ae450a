package core

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
)

// TestTell: what is kept of a device in less memory is told as it was.
func TestTell(t *testing.T) {
	battery, rssi, uptime := 81.5, -67.0, int64(86_400)
	full := rimewatch.Live{
		Presence: rimewatch.Presence{
			Status: rimewatch.Online, StatusChangedAt: 1, LastSeenAt: 2, LastHeartbeatAt: 3, OfflineAfterS: 180, IntervalS: 60.5,
			ZoneTemp: -17.5, ZoneTempAt: 5, BatteryPct: &battery, RSSI: &rssi, UptimeS: &uptime,
		},
		Latest: rimewatch.Reading{
			At: 4, ReceivedAt: 5, Values: [rimewatch.NumCore]float64{0: -18.123456789, 7: 0.1}, Optional: []float64{7.25},
			Present: rimewatch.CoreFields | 1<<rimewatch.NumCore, Faults: 2, Flags: 3,
		},
		CurrentTemp: -18.123456789, CurrentTempAt: 6, ActiveAlerts: 7,
	}
	plain := full
	plain.Status = rimewatch.Offline
	plain.ZoneTemp, plain.ZoneTempAt = 0, 0
	plain.BatteryPct, plain.RSSI, plain.UptimeS, plain.Latest.Optional = nil, nil, nil, nil
	d := newDevice(&rimewatch.Device{})
	for _, want := range []rimewatch.Live{plain, full, plain} {
		d.show(&want.Presence)
		d.setLatest(&want.Latest)
		d.live.temp, d.live.tempAt, d.live.alerts = want.CurrentTemp, want.CurrentTempAt, int32(want.ActiveAlerts)
		var got rimewatch.Live
		d.fillLive(&got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if want.BatteryPct == nil && d.extras != nil && d.extras.optional != nil {
			t.Error("what it said before is kept")
		}
	}
}

// TestDeviceIsSmall: there is one for every device of a fleet. The collector walks it up
// to its last pointer, which lies before what changes with its readings.
func TestDeviceIsSmall(t *testing.T) {
	of := reflect.TypeFor[device]()
	if most := uintptr(352); of.Size() > most {
		t.Errorf("%v takes %d bytes, want at most %d: the next larger piece of memory has 384", of, of.Size(), most)
	}
	var flat func(of reflect.Type) bool
	flat = func(of reflect.Type) bool {
		switch k := of.Kind(); {
		case k == reflect.Struct:
			for field := range of.Fields() {
				if !flat(field.Type) {
					return false
				}
			}
			return true
		case k == reflect.Array:
			return flat(of.Elem())
		default:
			return k <= reflect.Complex128
		}
	}
	behind := false
	for field := range of.Fields() {
		behind = behind || field.Name == "live"
		if behind && !flat(field.Type) {
			t.Errorf("%s holds pointers", field.Name)
		}
	}
}
