package outage

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
)

const t0 = rimewatch.Time(1_800_000_000_000)

// site makes a site of devices that fell silent so many seconds after t0, and others.
func site(silentAt []rimewatch.Time, others ...Device) *Site {
	s := &Site{}
	for _, at := range silentAt {
		s.Devices = append(s.Devices, Device{ID: int64(len(s.Devices) + 1), ChangedAt: t0 + at*rimewatch.Second})
	}
	for _, d := range others {
		d.ID = int64(len(s.Devices) + 1)
		s.Devices = append(s.Devices, d)
	}
	return s
}

func (s *Site) with(a rimewatch.Alert) *Site {
	a.ID, a.Type = 100, rimewatch.SiteOffline
	s.Alert = &a
	return s
}

func (s *Site) after(at rimewatch.Time) *Site {
	s.LastAlertAt = at
	return s
}

// silence adds an offline alert to each device from the i-th on.
func (s *Site) silence(i int, by int64, severity rimewatch.Severity) *Site {
	for ; i < len(s.Devices); i++ {
		s.Devices[i].Alerts = []*rimewatch.Alert{{ID: int64(i + 1), Type: rimewatch.DeviceOffline, Severity: severity, SuppressedBy: by}}
	}
	return s
}

// TestJudge: which silence is an outage, what its alert says, when it is over, and which of the
// devices' own alerts it inhibits.
func TestJudge(t *testing.T) {
	on := func(at rimewatch.Time) Device { return Device{Online: true, ChangedAt: t0 + at*rimewatch.Second} }
	early := on(-9000)
	three := []rimewatch.Time{0, 30, 119}
	peak := 3.0
	lasts := rimewatch.Alert{Severity: rimewatch.Warning, ConditionStartedAt: t0, PeakValue: &peak}
	acked := lasts
	acked.AckExpiresAt = t0 + 600*rimewatch.Second
	now := t0 + 500*rimewatch.Second
	again := func(at rimewatch.Time) rimewatch.Time { return t0 + at*rimewatch.Second }
	for name, tt := range map[string]struct {
		site *Site
		now  rimewatch.Time
		want Verdict
	}{
		"two of two":              {site(three[:2]), now, Verdict{}},
		"three of five":           {site(three, early, early), now, Verdict{Open: true, From: t0, Silent: 3, Devices: 5}},
		"three of seven":          {site(three, early, early, early, early), now, Verdict{}},
		"one too late":            {site([]rimewatch.Time{0, 30, 120}), now, Verdict{}},
		"the first was earlier":   {site([]rimewatch.Time{-900, 0, 30, 119}, early), now, Verdict{Open: true, From: t0, Silent: 3, Devices: 4}},
		"announced":               {site(three[:2], Device{ChangedAt: t0, Announced: true}), now, Verdict{}},
		"never heard":             {site(three[:2], Device{}), now, Verdict{}},
		"told before":             {site(three).after(t0), now, Verdict{From: t0, Silent: 3, Devices: 3}},
		"told of an earlier one":  {site(three).after(t0 - 1), now, Verdict{Open: true, From: t0, Silent: 3, Devices: 3}},
		"as it was":               {site(three, early).with(lasts), now, Verdict{Silent: 3, Devices: 4}},
		"one more":                {site(append(three, 400), early).with(lasts), now, Verdict{Update: true, Silent: 4, Devices: 5}},
		"acknowledged":            {site(three).with(acked), now, Verdict{Silent: 3, Devices: 3, Again: acked.AckExpiresAt}},
		"no longer acknowledged":  {site(three).with(acked), acked.AckExpiresAt, Verdict{Unacknowledge: true, Silent: 3, Devices: 3, Again: acked.AckExpiresAt}},
		"half are back, shortly":  {site(three[:2], on(400), on(450)).with(lasts), now, Verdict{Silent: 2, Devices: 4, Again: again(570)}},
		"half are back, settled":  {site(three[:2], on(300), on(380), early).with(lasts), now, Verdict{Resolve: true, Silent: 2, Devices: 4, Again: again(500)}},
		"all are back":            {site(nil, on(498), on(499), on(500), early).with(lasts), now, Verdict{Resolve: true, Devices: 4}},
		"all have gone elsewhere": {site(nil, early).with(lasts), now, Verdict{Resolve: true, Superseded: true, Devices: 1}},
		"critical once it is of what it inhibits":    {site(three).with(lasts).silence(0, 100, rimewatch.Critical), now, Verdict{Escalate: true, Silent: 3, Devices: 3}},
		"not for what speaks for itself":             {site(three).with(lasts).silence(2, 7, rimewatch.Critical), now, Verdict{Silent: 3, Devices: 3, Release: []int64{3}}},
		"inhibits what fell silent with it":          {site(three, Device{ChangedAt: t0 - 1}).with(lasts).silence(1, 0, rimewatch.Warning), now, Verdict{Silent: 3, Devices: 3, Suppress: []int64{2, 3}}},
		"releases what it inhibited when it is over": {site(three[:2], early).silence(0, 100, rimewatch.Warning), now, Verdict{Release: []int64{1, 2, 3}}},
	} {
		if d := cmp.Diff(tt.want, tt.site.Judge(tt.now)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// TestSlices: an outage of very many devices inhibits them in slices, so that nobody's commit is long.
func TestSlices(t *testing.T) {
	s := site(make([]rimewatch.Time, 2*slice+1))
	peak := float64(len(s.Devices))
	s.with(rimewatch.Alert{Severity: rimewatch.Warning, ConditionStartedAt: t0, PeakValue: &peak}).silence(0, 0, rimewatch.Warning)
	var sizes []int
	for range 5 {
		v := s.Judge(t0)
		sizes = append(sizes, len(v.Suppress))
		for _, id := range v.Suppress {
			s.Devices[id-1].Alerts[0].SuppressedBy = 100
		}
	}
	if d := cmp.Diff([]int{slice, slice, 1, 0, 0}, sizes); d != "" {
		t.Error(d)
	}
}

// TestRow: the alert of a site as a verdict leaves it.
func TestRow(t *testing.T) {
	v := Verdict{Open: true, From: t0, Silent: 3, Devices: 4}
	opened, kind := v.Row(nil, t0+1)
	if kind != rimewatch.TransitionOpened || opened.Status != rimewatch.AlertActive || opened.Severity != rimewatch.Warning || opened.ConditionStartedAt != t0 || *opened.Value != 3 || *opened.PeakValue != 3 || opened.OutOf != 4 {
		t.Errorf("%s %+v", kind, opened)
	}
	v = Verdict{Update: true, Escalate: true, Silent: 2, Devices: 5}
	worse, kind := v.Row(&opened, t0+2)
	if kind != rimewatch.TransitionEscalated || worse.Severity != rimewatch.Critical || *worse.Value != 2 || *worse.PeakValue != 3 || worse.LastEvaluatedAt != t0+2 {
		t.Errorf("%s %+v", kind, worse)
	}
	v = Verdict{Update: true, Silent: 4}
	if row, kind := v.Row(&worse, t0+3); kind != "" || *row.PeakValue != 4 || row.Status != rimewatch.AlertActive {
		t.Errorf("%s %+v", kind, row)
	}
	for superseded, want := range map[bool]rimewatch.Ending{false: rimewatch.EndedReports, true: rimewatch.EndedRemoved} {
		v = Verdict{Resolve: true, Superseded: superseded}
		if row, kind := v.Row(&worse, t0+4); kind != rimewatch.TransitionResolved || row.Status != rimewatch.AlertResolved || row.Ending != want || row.ResolvedAt != t0+4 {
			t.Errorf("superseded %v: %s %+v", superseded, kind, row)
		}
	}
}
