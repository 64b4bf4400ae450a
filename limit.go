package rimewatch

import "slices"

// Limits are the product-temperature limits in force for a device, °C and s.
// A nil bound is not judged.
type Limits struct {
	TempMin        *float64 `json:"temp_min"`
	TempMax        *float64 `json:"temp_max"`
	DelayS         int      `json:"delay_s"`     // above TempMax this long before a warning
	LowDelayS      int      `json:"low_delay_s"` // below TempMin this long before a warning
	CriticalMin    *float64 `json:"critical_min"`
	CriticalMax    *float64 `json:"critical_max"`
	CriticalDelayS int      `json:"critical_delay_s"` // beyond a critical bound this long before critical
	ClearDelta     float64  `json:"clear_delta"`      // K inside the limit before it counts as back
	ClearS         int      `json:"clear_s"`          // back this long before the alert resolves
	// ExposureMinPerDay bounds the time out of limits that adds up within 24 h.
	ExposureMinPerDay ExposureLimits `json:"exposure_min_per_day"`
	OfflineAfterS     int            `json:"offline_after_s"` // of silence before offline; 0 = as each device reports
	Source            string         `json:"source"`          // equipment_type, workspace or device: the last that had a say
}

// ExposureLimits are the minutes within 24 h after which goods are alerted for, however
// short each time: above TempMax a warning, below CriticalMin a critical alert. nil = off.
type ExposureLimits struct {
	Warm *int `json:"warm"` // min above TempMax
	Cold *int `json:"cold"` // min below CriticalMin
}

// Passed returns the limit on a side, 0 where there is none.
func (l *Limits) Passed(low bool) float64 {
	limit := l.TempMax
	if low {
		limit = l.TempMin
	}
	if limit == nil {
		return 0
	}
	return *limit
}

// Same reports whether l and o judge alike, wherever they come from.
func (l *Limits) Same(o *Limits) bool {
	same := func(a, b *float64) bool { return a == b || a != nil && b != nil && *a == *b }
	return same(l.TempMin, o.TempMin) && same(l.TempMax, o.TempMax) && same(l.CriticalMin, o.CriticalMin) && same(l.CriticalMax, o.CriticalMax) &&
		sameMinutes(l.ExposureMinPerDay.Warm, o.ExposureMinPerDay.Warm) && sameMinutes(l.ExposureMinPerDay.Cold, o.ExposureMinPerDay.Cold) &&
		l.DelayS == o.DelayS && l.LowDelayS == o.LowDelayS && l.CriticalDelayS == o.CriticalDelayS && l.ClearDelta == o.ClearDelta && l.ClearS == o.ClearS
}

func sameMinutes(a, b *int) bool { return a == b || a != nil && b != nil && *a == *b }

// LimitOverrides are the limits that people set for one device, or for all of a
// type in their workspace. Nil leaves the limit as it is.
type LimitOverrides struct {
	TempMin        *float64 `json:"temp_min,omitempty"`
	TempMax        *float64 `json:"temp_max,omitempty"`
	DelayS         *int     `json:"delay_s,omitempty"`
	LowDelayS      *int     `json:"low_delay_s,omitempty"`
	CriticalMin    *float64 `json:"critical_min,omitempty"`
	CriticalMax    *float64 `json:"critical_max,omitempty"`
	CriticalDelayS *int     `json:"critical_delay_s,omitempty"`
	ClearDelta     *float64 `json:"clear_delta,omitempty"`
	ClearS         *int     `json:"clear_s,omitempty"`

	ExposureMinPerDay *ExposureOverrides `json:"exposure_min_per_day,omitempty"`
	OfflineAfterS     *int               `json:"offline_after_s,omitempty"`
}

// ExposureOverrides are minutes of ExposureLimits. Nil leaves them as they are, and 0
// is off.
type ExposureOverrides struct {
	Warm *int `json:"warm,omitempty"`
	Cold *int `json:"cold,omitempty"`
}

// SetExposure changes the minutes of o, and leaves those that it refers to as they are.
func (o *LimitOverrides) SetExposure(change func(*ExposureOverrides)) {
	var x ExposureOverrides
	if o.ExposureMinPerDay != nil {
		x = *o.ExposureMinPerDay
	}
	if change(&x); x == (ExposureOverrides{}) {
		o.ExposureMinPerDay = nil
		return
	}
	o.ExposureMinPerDay = &x
}

// Empty reports whether nothing is overridden.
func (o *LimitOverrides) Empty() bool { return o == nil || *o == LimitOverrides{} }

// apply returns base with the overrides of o.
func (o *LimitOverrides) apply(base Limits, source string) Limits {
	if o.Empty() {
		return base
	}
	l := base
	override(&l.TempMin, o.TempMin)
	override(&l.TempMax, o.TempMax)
	override(&l.CriticalMin, o.CriticalMin)
	override(&l.CriticalMax, o.CriticalMax)
	overrideValue(&l.DelayS, o.DelayS)
	overrideValue(&l.LowDelayS, o.LowDelayS)
	overrideValue(&l.CriticalDelayS, o.CriticalDelayS)
	overrideValue(&l.ClearDelta, o.ClearDelta)
	overrideValue(&l.ClearS, o.ClearS)
	overrideValue(&l.OfflineAfterS, o.OfflineAfterS)
	if e := o.ExposureMinPerDay; e != nil {
		overrideMinutes(&l.ExposureMinPerDay.Warm, e.Warm)
		overrideMinutes(&l.ExposureMinPerDay.Cold, e.Cold)
	}
	l.Source = source
	return l
}

func override(dst **float64, v *float64) {
	if v != nil {
		*dst = v
	}
}

// overrideMinutes replaces a bound that 0 turns off.
func overrideMinutes(dst **int, v *int) {
	if v == nil {
		return
	}
	if *dst = v; *v == 0 {
		*dst = nil
	}
}

func overrideValue[T any](dst *T, v *T) {
	if v != nil {
		*dst = *v
	}
}

// Outside reports whether a temperature, °C, is beyond the limits.
func (l *Limits) Outside(v float64) bool {
	return l.TempMax != nil && v > *l.TempMax || l.TempMin != nil && v < *l.TempMin
}

// Any reports whether there is a bound at all.
func (l *Limits) Any() bool {
	return l.TempMin != nil || l.TempMax != nil || l.CriticalMin != nil || l.CriticalMax != nil
}

// Check reports contradictions of limits as a whole, nil when they are sound:
// bounds in order and within −100…200 °C, delays 0…86,400 s, ClearDelta 0…20 K,
// minutes a day 1…1440.
func (l *Limits) Check() *Error {
	e := &Error{Code: CodeValidationFailed, Message: "The limits contradict each other."}
	bound := func(name string, v *float64) {
		if v != nil && (*v < -100 || *v > 200) {
			e.With("limits."+name, "must be between -100 and 200")
		}
	}
	bound("temp_min", l.TempMin)
	bound("temp_max", l.TempMax)
	bound("critical_min", l.CriticalMin)
	bound("critical_max", l.CriticalMax)
	ordered := func(name string, low, high *float64, strict bool, what Sentence) {
		if low == nil || high == nil {
			return
		}
		if *low > *high || (strict && *low == *high) {
			e.With("limits."+name, "%s", what)
		}
	}
	ordered("temp_min", l.TempMin, l.TempMax, true, Sentencef("must be below temp_max"))
	ordered("critical_max", l.TempMax, l.CriticalMax, false, Sentencef("must not be below temp_max"))
	ordered("critical_min", l.CriticalMin, l.TempMin, false, Sentencef("must not be above temp_min"))
	delay := func(name string, v int) {
		if v < 0 || v > 86400 {
			e.With("limits."+name, "must be between 0 and 86400")
		}
	}
	delay("delay_s", l.DelayS)
	delay("low_delay_s", l.LowDelayS)
	delay("critical_delay_s", l.CriticalDelayS)
	delay("clear_s", l.ClearS)
	minutes := func(name string, v *int) {
		if v != nil && (*v < 1 || *v > 24*60) {
			e.With("limits.exposure_min_per_day."+name, "must be between 1 and 1440, or 0 for off")
		}
	}
	minutes("warm", l.ExposureMinPerDay.Warm)
	minutes("cold", l.ExposureMinPerDay.Cold)
	if s := l.OfflineAfterS; s != 0 && (s < 10 || s > 2_592_000) {
		e.With("limits.offline_after_s", "must be between 10 and 2592000, or 0 to have it learned")
	}
	if l.ClearDelta < 0 || l.ClearDelta > 20 {
		e.With("limits.clear_delta", "must be between 0 and 20")
	}
	if len(e.Fields) == 0 {
		return nil
	}
	return e
}

const (
	exposureWarm = "exposure_min_per_day.warm"
	exposureCold = "exposure_min_per_day.cold"
)

// looserThan names the limits for the safety of goods that are looser than
// other's: a bound that is wider or gone, more minutes a day and, with delays, a longer
// delay.
func (l *Limits) looserThan(other *Limits, delays bool) []string {
	var names []string
	bound := func(name string, v, was *float64, sign float64) {
		if was != nil && (v == nil || sign**v > sign**was) {
			names = append(names, name)
		}
	}
	bound("temp_min", l.TempMin, other.TempMin, -1)
	bound("temp_max", l.TempMax, other.TempMax, 1)
	bound("critical_min", l.CriticalMin, other.CriticalMin, -1)
	bound("critical_max", l.CriticalMax, other.CriticalMax, 1)
	delay := func(name string, v, was int) {
		if delays && v > was {
			names = append(names, name)
		}
	}
	delay("delay_s", l.DelayS, other.DelayS)
	delay("low_delay_s", l.LowDelayS, other.LowDelayS)
	delay("critical_delay_s", l.CriticalDelayS, other.CriticalDelayS)
	minutes := func(name string, v, was *int) {
		if was != nil && (v == nil || *v > *was) {
			names = append(names, name)
		}
	}
	minutes(exposureWarm, l.ExposureMinPerDay.Warm, other.ExposureMinPerDay.Warm)
	minutes(exposureCold, l.ExposureMinPerDay.Cold, other.ExposureMinPerDay.Cold)
	return names
}

// CheckLoosening refuses to loosen a safety limit by mistake: a bound of the
// product temperature and, for TCS food and medical types, a delay. What was in
// force before and what would hold without the override may both be returned
// to freely; beyond both, CodeValidationFailed names each such field below path.
func CheckLoosening(e *Equipment, path string, after, before, without *Limits) error {
	delays := e.TCS || e.Category == CategoryMedical
	var failed *Error
	was := before.looserThan(without, delays)
	for _, name := range after.looserThan(without, delays) {
		if slices.Contains(was, name) && !slices.Contains(after.looserThan(before, delays), name) {
			continue // it was that loose already
		}
		if failed == nil {
			failed = &Error{Code: CodeValidationFailed, Message: "This relaxes a food-safety limit. Send confirm_loosening: true to confirm."}
		}
		failed.With(path+"."+name, "is looser than %s (%s): needs confirm_loosening", without.describe(name), Sentencef(e.Basis))
	}
	if failed == nil {
		return nil
	}
	return failed
}

// CheckTypeLoosening refuses to loosen safety limits by mistake by way of another type:
// CodeValidationFailed on equipment_type names each that is looser than it was for a
// device of type e.
func CheckTypeLoosening(e *Equipment, after, before *Limits) error {
	names := after.looserThan(before, e.TCS || e.Category == CategoryMedical)
	if len(names) == 0 {
		return nil
	}
	failed := &Error{Code: CodeValidationFailed, Message: "This relaxes a food-safety limit. Send confirm_loosening: true to confirm."}
	for _, name := range names {
		failed.With("equipment_type", "loosens %s, which is %s now: needs confirm_loosening", name, before.describe(name))
	}
	return failed
}

// describe writes a limit with its unit.
func (l *Limits) describe(name string) Sentence {
	degrees := func(v *float64) Sentence {
		if v == nil {
			return Sentencef("none")
		}
		return Sentencef("%s °C", Decimal(*v))
	}
	minutes := func(v *int) Sentence {
		if v == nil {
			return Sentencef("none")
		}
		return Sentencef("%d min", *v)
	}
	switch name {
	case "temp_min":
		return degrees(l.TempMin)
	case "temp_max":
		return degrees(l.TempMax)
	case "critical_min":
		return degrees(l.CriticalMin)
	case "critical_max":
		return degrees(l.CriticalMax)
	case "delay_s":
		return Sentencef("%d s", l.DelayS)
	case "low_delay_s":
		return Sentencef("%d s", l.LowDelayS)
	case exposureWarm:
		return minutes(l.ExposureMinPerDay.Warm)
	case exposureCold:
		return minutes(l.ExposureMinPerDay.Cold)
	default:
		return Sentencef("%d s", l.CriticalDelayS)
	}
}

// FormerLimits are the limits that a device was judged by until others replaced them.
type FormerLimits struct {
	WorkspaceID int64
	DeviceID    int64
	Until       Time
	Limits      Limits
}
