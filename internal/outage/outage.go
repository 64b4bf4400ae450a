package outage

import (
	"slices"

	"github.com/rimewatch/rimewatch"
)

// An outage of a site: when at least least devices, and at least half of
// those that were online before, fall silent within window. Devices that
// announced their shutdown or were offline already do not count. The alert is
// over when at least half of those that fell silent have been heard again for
// settle, so that the others have had their turn, or at once when all have.
const (
	least  = 3
	window = 2 * rimewatch.Minute
	settle = 2 * rimewatch.Minute
	slice  = 2_000 // devices in one verdict
)

// Site is a place with devices.
type Site struct {
	Devices     []Device
	Alert       *rimewatch.Alert // its site_offline while active, nil = none
	LastAlertAt rimewatch.Time   // when its last alert that is over was triggered
}

// Device is a device of a site.
type Device struct {
	ID        int64
	ChangedAt rimewatch.Time // when it came online or went offline
	Online    bool
	Announced bool               // its shutdown was
	Alerts    []*rimewatch.Alert // active ones
}

// silent reports whether a device should be heard and is not.
func (d *Device) silent() bool { return !d.Online && !d.Announced && d.ChangedAt != 0 }

// silence is the alert about it, nil = there is none.
func (d *Device) silence() *rimewatch.Alert {
	for _, row := range d.Alerts {
		if row.Type == rimewatch.DeviceOffline {
			return row
		}
	}
	return nil
}

// Verdict are the changes of a site's alerts.
type Verdict struct {
	Open, Resolve     bool
	Superseded        bool // Resolve: there is nothing left that could be heard
	Update, Escalate  bool
	Unacknowledge     bool           // the acknowledgement of its alert has ended
	From              rimewatch.Time // of an outage to open
	Silent, Devices   int            // what its alert says from now on
	Suppress, Release []int64        // devices whose alert about silence the site's inhibits, or no longer
	Causes            []Cause        // of predictions, when all else is settled
	Again             rimewatch.Time // when to judge again, 0 = at the next change
}

// Nothing reports whether there is nothing to be done.
func (v *Verdict) Nothing() bool {
	return !v.Open && !v.Resolve && !v.Update && !v.Escalate && !v.Unacknowledge && len(v.Suppress) == 0 && len(v.Release) == 0 && len(v.Causes) == 0
}

// Judge returns what is to be done. What concerns the devices' own alerts comes in
// slices, and only when the site's own is settled.
func (s *Site) Judge(now rimewatch.Time) (v Verdict) {
	inhibits := int64(0) // the alert that inhibits those about silence
	var since rimewatch.Time
	if s.Alert == nil {
		if v.From, v.Silent, v.Devices, v.Open = s.outage(); v.Open && v.From <= s.LastAlertAt {
			v.Open = false
		}
	} else {
		s.judgeAlert(&v, now)
		inhibits, since = s.Alert.ID, s.Alert.ConditionStartedAt
	}
	if !v.Nothing() {
		return v
	}
	for i := range s.Devices {
		d := &s.Devices[i]
		row := d.silence()
		switch {
		case len(v.Release)+len(v.Suppress) >= slice:
			return v
		case row == nil:
		case row.SuppressedBy != 0 && row.SuppressedBy != inhibits:
			v.Release = append(v.Release, d.ID)
		case row.SuppressedBy == 0 && inhibits != 0 && d.silent() && d.ChangedAt >= since:
			v.Suppress = append(v.Suppress, d.ID)
		}
	}
	if v.Nothing() {
		v.Causes = s.causes()
	}
	return v
}

// outage finds the latest one: when it began, how many fell silent and how many
// were online before.
func (s *Site) outage() (from rimewatch.Time, silent, before int, found bool) {
	if len(s.Devices) < least {
		return 0, 0, 0, false
	}
	var at []rimewatch.Time
	online := 0
	for i := range s.Devices {
		switch d := &s.Devices[i]; {
		case d.Online:
			online++
		case d.silent():
			at = append(at, d.ChangedAt)
		}
	}
	slices.Sort(at)
	for last, first := len(at)-1, len(at)-1; last+1 >= least; last-- {
		for first = min(first, last); first > 0 && at[first-1] > at[last]-window; first-- {
		}
		silent, before = last-first+1, len(at)-first+online
		if silent >= least && 2*silent >= before {
			return at[first], silent, before, true
		}
	}
	return 0, 0, 0, false
}

// judgeAlert returns the verdict on a site's active alert. It turns critical with
// the first of the devices that it inhibits.
func (s *Site) judgeAlert(v *Verdict, now rimewatch.Time) {
	a := s.Alert
	var back []rimewatch.Time
	critical := false
	for i := range s.Devices {
		switch d := &s.Devices[i]; {
		case d.silent() && d.ChangedAt >= a.ConditionStartedAt:
			v.Silent++
			row := d.silence()
			critical = critical || row != nil && row.Severity == rimewatch.Critical && row.SuppressedBy == a.ID
		case d.Online && d.ChangedAt > a.ConditionStartedAt:
			back = append(back, d.ChangedAt)
		case d.Online:
			v.Devices++
		}
	}
	concerned := v.Silent + len(back)
	v.Devices += concerned
	v.Superseded = concerned == 0
	if v.Silent == 0 {
		v.Resolve = true
		return
	}
	if 2*len(back) >= concerned {
		slices.Sort(back)
		v.Again = back[(concerned+1)/2-1] + settle
		if v.Resolve = now >= v.Again; v.Resolve {
			v.Devices = concerned
			return
		}
	}
	if ends := a.AckExpiresAt; ends != 0 {
		v.Unacknowledge = ends <= now
		if v.Again == 0 || ends < v.Again {
			v.Again = ends
		}
	}
	v.Escalate = critical && a.Severity == rimewatch.Warning
	v.Update = a.PeakValue == nil || float64(v.Silent) > *a.PeakValue
}

// Row returns a site's alert as the verdict changes or opens it (was is nil then), and what
// happened to it, "" = it only says more.
func (v *Verdict) Row(was *rimewatch.Alert, now rimewatch.Time) (row rimewatch.Alert, kind rimewatch.TransitionKind) {
	switch {
	case was == nil:
		row = rimewatch.Alert{
			Type: rimewatch.SiteOffline, Status: rimewatch.AlertActive, Severity: rimewatch.Warning,
			ConditionStartedAt: v.From, TriggeredAt: now, Metric: "silent_devices", Occurrences: 1,
		}
		kind = rimewatch.TransitionOpened
	case v.Resolve:
		row, kind = *was, rimewatch.TransitionResolved
		row.Status, row.Resolution, row.ResolvedAt, row.Ending = rimewatch.AlertResolved, rimewatch.ResolvedAuto, now, rimewatch.EndedReports
		if v.Superseded {
			row.Resolution, row.Ending = rimewatch.ResolvedSuperseded, rimewatch.EndedRemoved
		}
	case v.Escalate:
		row, kind = *was, rimewatch.TransitionEscalated
		row.Severity = rimewatch.Critical
	default:
		row = *was
	}
	row.LastEvaluatedAt = now
	value := float64(v.Silent)
	peak := value
	if row.PeakValue != nil {
		peak = max(peak, *row.PeakValue)
	}
	row.Value, row.PeakValue, row.OutOf = &value, &peak, v.Devices
	return row, kind
}
