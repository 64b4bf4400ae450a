package engine

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
)

// battery is the memory of battery_low, which is judged by a device's reports of its own
// battery, never by a measurement.
type battery struct {
	opened rimewatch.Time // when its alert last opened, 0 = never
	lowest rimewatch.Time `state:"span"` // level in percent and 1 since then while it is active; 0 = it is not
}

// noLevel stands for the level of a battery that its device reports as low without a level.
const noLevel = 101

// Charge is a device's report of its battery.
type Charge struct {
	Pct    *float64 // 0–100
	Low    *bool
	LowPct int // at which batteries of its kind are low, 0 = at rimewatch.BatteryLowPct
}

// batteryQuiet is how long battery_low is not opened again: a battery in the cold comes and
// goes.
const batteryQuiet = 7 * rimewatch.Day

// charged judges a device's report of its battery. A flag weighs as much as a level.
func (b *battery) charged(c *Charge, now rimewatch.Time, out []alert.Transition) []alert.Transition {
	if c.Pct == nil && c.Low == nil {
		return out
	}
	limit := float64(c.LowPct)
	if limit == 0 {
		limit = rimewatch.BatteryLowPct
	}
	low := c.Low != nil && *c.Low || c.Pct != nil && *c.Pct <= limit
	level := float64(noLevel)
	if c.Pct != nil {
		level = *c.Pct
	}
	t := alert.Transition{
		Type: rimewatch.BatteryLow, Severity: rimewatch.Warning, At: now, ConditionStartedAt: now, Occurrences: 1,
		Metric: rimewatch.BatteryFlag,
	}
	if c.Pct != nil {
		t.Metric, t.Unit = rimewatch.BatteryCharge, "%"
		t.Value, t.Peak, t.Threshold, t.HasValue, t.HasThreshold = level, level, limit, true, true
	}
	switch lowest := float64(b.lowest - 1); {
	case b.lowest == 0 && low && (b.opened == 0 || now-b.opened >= batteryQuiet):
		b.opened, b.lowest = now, 1+rimewatch.Time(level)
		t.Kind = rimewatch.TransitionOpened
		return append(out, t)
	case b.lowest == 0:
	case c.Pct == nil && !low, c.Pct != nil && (c.Low == nil || !*c.Low) && (level > max(rimewatch.BatteryRenewedPct, limit) || level >= lowest+rimewatch.BatteryJumpPct):
		t.Kind, t.ConditionStartedAt, t.Peak, t.Ending = rimewatch.TransitionResolved, b.opened, min(level, lowest), rimewatch.EndedCharged
		b.lowest = 0
		return append(out, t)
	default:
		b.lowest = min(b.lowest, 1+rimewatch.Time(level))
	}
	return out
}

// resolved records that a person has resolved the alert.
func (b *battery) resolved() { b.lowest = 0 }
