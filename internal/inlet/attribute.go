package inlet

import (
	"cmp"
	"strings"

	"github.com/rimewatch/rimewatch"
)

// attribute is something that senders say of themselves.
type attribute uint8

const (
	noAttribute attribute = iota
	charge                // of the battery, a share, or the voltage that is called so
	voltage               // of the battery
	isLow                 // the battery
	inOrder               // the battery
	signal
	firmware
)

// attributes are the names by which they are recognised, what goes before what, and what
// their values have to be.
var attributes = []struct {
	what attribute
	want wanted
	fits func(*leaf) bool
}{
	{charge, wantBattery, func(l *leaf) bool { _, ok := share(l.value, l.saidUnit(), l.bare()); return ok }},
	{voltage, wantVolts, func(l *leaf) bool {
		v, _, err := number(l.value)
		_, ok := rimewatch.BatteryLevel(v)
		return err == nil && ok
	}},
	{charge, wantBattery, func(l *leaf) bool { _, ok := cellVolts(l.value, l.saidUnit()); return ok }},
	{charge, wantBattery, func(l *leaf) bool { return batteryWords[wordOf(l.value)] != unsaid }},
	{isLow, wanted{[]string{"batterylow lowbattery batlow battlow lowbat lowbatt"}}, yesOrNo},
	{inOrder, wanted{[]string{"batteryok batok"}}, yesOrNo},
	{signal, wanted{[]string{"rssi rssidbm loracrssi lorarssi lrrrssi", "signal"}}, func(l *leaf) bool { v, _, err := number(l.value); return err == nil && v < 0 && v > lowestSignal }},
	{firmware, wanted{[]string{"firmwareversion firmware fwversion swversion fwver"}}, near},
}

var (
	wantBattery = wanted{[]string{"batterypct batterypercent batterypercentage batterylevel batterysoc", "battery batt bat rembattcapacity"}}
	wantVolts   = wanted{[]string{"batteryvoltage batteryv batteryvolts batterymv batvoltage batv battv batmv vbat vbatt vbattery"}}
)

// lowestSignal is weaker than any radio receives, in dBm.
const lowestSignal = -200

// said is an attribute with where it stands.
type said struct {
	*leaf
	what attribute
}

// attributesOf finds the attributes of the sender itself in a payload.
func attributesOf(found []leaf) (list []said) {
	for i := range attributes {
		a := &attributes[i]
		if l := a.want.find(found, a.fits); l != nil {
			list = append(list, said{l, a.what})
		}
	}
	return list
}

// attributes fills in the attributes of the device itself.
func (m *Mapper) attributes(env *environment, found []leaf, d *Device) {
	for _, x := range attributesOf(found) {
		d.note(x.what, x.value, x.saidUnit(), x.bare())
	}
	for i := range m.device {
		r := &m.device[i]
		if v, problem := r.value(env); problem == "" {
			if r.name == firmwareVersion {
				v, _ = r.from.text(env)
			}
			d.note(ruled[r.name], v, ruledUnits[r.name], false)
		}
	}
	d.Firmware = rimewatch.NameFrom(d.Firmware)
}

// ruled are the attributes that templates have rules for, and ruledUnits the units of their values.
var (
	ruled      = map[string]attribute{batteryPct: charge, batteryVolts: voltage, batteryLow: isLow, rssiDBm: signal, firmwareVersion: firmware}
	ruledUnits = map[string]string{batteryPct: "%"}
)

// batteryWords are the words for how full a battery is.
var batteryWords = map[string]batteryWord{
	"ok": saysFull, "good": saysFull, "normal": saysFull, "high": saysFull, "full": saysFull, "medium": saysFull, "middle": saysFull,
	"low": saysLow, "critical": saysLow, "empty": saysLow, "bad": saysLow, "replace": saysLow,
}

type batteryWord uint8

const (
	unsaid batteryWord = iota
	saysFull
	saysLow
)

func wordOf(v any) string {
	text, _ := v.(string)
	return strings.ToLower(strings.TrimSpace(text))
}

// saidUnit returns the unit that is the value's own.
func (l *leaf) saidUnit() string {
	if !l.measured {
		return ""
	}
	return l.unit
}

// bare reports whether a name says the battery, and not which property of it.
func (l *leaf) bare() bool {
	return l.squeezed == "battery" || l.squeezed == "batt" || l.squeezed == "bat"
}

// note takes a value as an attribute; impossible values are left out. A share goes before volts.
func (d *Device) note(what attribute, v any, unit string, bare bool) {
	switch n, _, err := number(v); what {
	case charge:
		if pct, ok := share(v, unit, bare); ok {
			d.BatteryPct = &pct
		} else if volts, ok := cellVolts(v, unit); ok {
			d.setVolts(volts)
		} else if said := batteryWords[wordOf(v)]; said != unsaid {
			low := said == saysLow
			d.BatteryLow = &low
		}
	case voltage:
		if err == nil {
			d.setVolts(n)
		}
	case isLow, inOrder:
		d.setLow(v, what == inOrder)
	case signal:
		if err == nil && n > lowestSignal && n < -lowestSignal/2 {
			d.RSSI = &n
		}
	case firmware:
		d.Firmware, _ = v.(string)
	case noAttribute:
	}
}

// setVolts notes the level of a battery of this voltage where no share is known.
func (d *Device) setVolts(v float64) {
	if level, ok := rimewatch.BatteryLevel(v); ok && d.BatteryPct == nil {
		d.BatteryPct = &level
	}
}

// setLow notes whether the battery is low by a yes or no, or of one that says that it is in
// order by how much it is: rtl_433 sends from 0 to 1.
func (d *Device) setLow(v any, inOrder bool) {
	yes, ok := truth(v)
	if n, _, err := number(v); !ok && err == nil {
		yes, ok = n > rimewatch.BatteryLowPct/100., inOrder
	}
	if ok {
		low := yes != inOrder
		d.BatteryLow = &low
	}
}

// share reads a share of a battery's charge, in whole percent or with its unit. A bare
// "battery" of 5 and less is as likely one of a few levels or its voltage, and 4 % would wake
// somebody.
func share(v any, unit string, bare bool) (pct float64, ok bool) {
	n, own, err := number(v)
	unit = cmp.Or(own, unit)
	switch {
	case err != nil || n < 0 || n > 100:
		return 0, false
	case unit == "%":
		return n, true
	}
	return n, unit == "" && n == float64(int(n)) && (n > 5 || !bare)
}

// cellVolts reads a voltage under the name of the battery: by its unit, or as no share of
// a charge is and a lithium cell or two others show.
func cellVolts(v any, unit string) (volts float64, ok bool) {
	n, own, err := number(v)
	switch unit = cmp.Or(own, unit); {
	case err != nil:
		return 0, false
	case unit != "":
		return n, strings.EqualFold(unit, "V") || strings.EqualFold(unit, "mV")
	}
	return n, n >= 1.8 && n <= 3.7 && n != float64(int(n)) || n >= 1800 && n <= 3700
}

// yesOrNo reports whether a leaf says one of them, or how much of it is so.
func yesOrNo(l *leaf) bool {
	_, ok := truth(l.value)
	v, _, err := number(l.value)
	return ok || err == nil && v >= 0 && v <= 1
}
