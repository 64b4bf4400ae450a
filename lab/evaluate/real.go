package evaluate

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
)

// realRecording is a real unit that somebody recorded: what its file is called, what
// it is taken for, and which of its defrosts and warm spells are known.
type realRecording struct {
	prefix string
	types  []string // it is played as each of them
}

// realRecordings are the public recordings that are known by their names; others are
// played as "other".
var realRecordings = []realRecording{
	{"celsi", []string{"reach_in_freezer", "vaccine_freezer"}},
	{"subzero_cooling", []string{"walkin_cooler"}},
	{"subzero_freezer", []string{"cold_storage"}},
	{"subzero_deepfreezer", []string{"cold_storage"}},
	{"tracebase_freezer", []string{"undercounter_freezer"}},
	{"tracebase", []string{"undercounter_cooler"}},
}

// readingsOf reads a recording whole.
func readingsOf(path string) (list []rimewatch.Reading, err error) {
	err = eachReading(path, func(r *rimewatch.Reading) error {
		list = append(list, *r)
		return nil
	})
	return list, err
}

// runReal plays real recordings and prints Markdown.
func runReal(ctx context.Context, sources []source, stdout io.Writer) error {
	site := map[string][]siteAlarm{}
	type played struct {
		name     string
		types    []string
		readings []rimewatch.Reading
	}
	var units []played
	for _, src := range sources {
		if err := ctx.Err(); err != nil {
			return err
		}
		base := strings.TrimSuffix(filepath.Base(src.path), ".csv")
		if base == "site_alarms" {
			var err error
			if site, err = readSiteAlarms(src.path); err != nil {
				return err
			}
			continue
		}
		list, err := readingsOf(src.path)
		if err != nil {
			return err
		}
		types := []string{rimewatch.OtherEquipment}
		for _, r := range realRecordings {
			if strings.HasPrefix(base, r.prefix) {
				types = r.types
				break
			}
		}
		units = append(units, played{base, types, list})
	}
	fmt.Fprintln(stdout, "| recording | as | days | alerts reported, the plain rule / with defrosts | critical | kept back | other alerts | predictions |")
	fmt.Fprintln(stdout, "|---|---|---|---|---|---|---|---|")
	for _, u := range units {
		for _, typ := range u.types {
			p, a := watchReal(typ, u.readings, plainRules), watchReal(typ, u.readings, 0)
			fmt.Fprintf(stdout, "| %s | %s | %.1f | %d / %d | %d / %d | %d | %s | %d |\n", u.name, typ, a.days, p.warm, a.warm, p.warmCritical, a.warmCritical,
				a.kept, tallied(a.others), a.predicted)
		}
	}
	fmt.Fprintln(stdout)
	for _, u := range units {
		if alarms := site[u.name]; len(alarms) > 0 && alarms[0].limit > 0 {
			againstSite(u.name, u.types[0], u.readings, alarms, stdout)
		}
	}
	fmt.Fprintln(stdout, "\n| current only | past learning after, days of running | judged |\n|---|---|---|")
	for _, u := range units {
		if r := u.readings[0]; !r.Present.Has(rimewatch.ProductZoneTemp) && r.Present.Has(rimewatch.AmpDraw) {
			state, after := learnsFromCurrent(u.types[0], u.readings)
			fmt.Fprintf(stdout, "| %s | %s | %s |\n", u.name, after, state)
		}
	}
	fmt.Fprintln(stdout, "\n| recording | as | variations | raised as recorded (fewest–most over the variations) | past learning within a week of running | predictions |\n|---|---|---|---|---|---|")
	for _, u := range units {
		varyReal(u.name, u.types[0], u.readings, stdout)
	}
	fmt.Fprintln(stdout)
	for _, u := range units {
		if strings.HasPrefix(u.name, "celsi") {
			injectAll(u.name, u.types, u.readings, stdout)
		}
	}
	return nil
}

// plainRules leaves out what keeps alerts back in defrosts.
const plainRules = alert.RuleDefrost

// watchedReal is what a recording brought.
type watchedReal struct {
	days                          float64
	warm, warmCritical, predicted int
	kept                          int
	others                        map[string]int
}

func watchReal(typ string, list []rimewatch.Reading, without alert.Rules) (w watchedReal) {
	judge := newUnitJudge(typ, nil)
	judge.cfg.Alert.Rules &^= without
	w.others = map[string]int{}
	w.days = float64(list[len(list)-1].At-list[0].At) / float64(rimewatch.Day)
	var out []event
	was := false
	for i := range list {
		out = judge.take(&list[i], out[:0])
		if _, kept := judge.state.Alert.Kept(); kept != was {
			if was = kept; kept {
				w.kept++
			}
		}
		for k := range out {
			e := &out[k]
			warm := e.typ == rimewatch.HighTemperature
			switch {
			case ofRecording(e.typ):
			case warm && (e.what == "opened" || e.what == "escalated") && e.severity == rimewatch.Critical:
				w.warmCritical++
				if e.what == "opened" {
					w.warm++
				}
			case e.what != "opened":
			case warm:
				w.warm++
			case e.predicts:
				w.predicted++
			default:
				w.others[string(e.typ)]++
			}
		}
	}
	return w
}

// siteAlarm is an alarm of the site's own system.
type siteAlarm struct {
	from, to rimewatch.Time
	limit    float64
	high     bool
}

// readSiteAlarms reads file,time,alarm_type,limit,value.
func readSiteAlarms(path string) (map[string][]siteAlarm, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("evaluate: %w", err)
	}
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("evaluate: %s: %w", path, err)
	}
	alarms := map[string][]siteAlarm{}
	for _, row := range rows[1:] {
		at, err := rimewatch.ParseTime(row[1])
		if err != nil {
			return nil, fmt.Errorf("evaluate: %s: %w", path, err)
		}
		limit, _ := strconv.ParseFloat(row[3], 64)
		list := alarms[row[0]]
		if row[2] == "recovery" {
			if n := len(list); n > 0 && list[n-1].to == 0 {
				list[n-1].to = at
			}
			continue
		}
		alarms[row[0]] = append(list, siteAlarm{from: at, limit: limit, high: row[2] == "exceed"})
	}
	return alarms, nil
}

// againstSite plays a recording with the limits in the site's log and
// compares the alerts.
func againstSite(name, typ string, list []rimewatch.Reading, alarms []siteAlarm, stdout io.Writer) {
	alarms = slices.DeleteFunc(slices.Clone(alarms), func(a siteAlarm) bool { return !a.high || a.to == 0 })
	judge := newUnitJudge(typ, nil)
	delay := rimewatch.Time(judge.cfg.Alert.Limits.DelayS) * rimewatch.Second
	next := 0
	var spans []siteAlarm // ours
	var out []event
	for i := range list {
		for next < len(alarms)-1 && alarms[next].to < list[i].At {
			next++
		}
		if limit := alarms[next].limit; judge.cfg.Alert.Limits.TempMax == nil || *judge.cfg.Alert.Limits.TempMax != limit {
			judge.cfg.Alert.Limits.TempMax = &limit
		}
		out = judge.take(&list[i], out[:0])
		for k := range out {
			switch e := &out[k]; {
			case e.typ != rimewatch.HighTemperature:
			case e.what == "opened":
				spans = append(spans, siteAlarm{from: e.at, to: e.at})
			case e.what == "resolved" && len(spans) > 0:
				spans[len(spans)-1].to = e.at
			}
		}
	}
	lasting, lastingFound, found := 0, 0, 0
	for _, a := range alarms {
		lasts := a.to-a.from > delay
		if lasts {
			lasting++
		}
		if slices.ContainsFunc(spans, func(s siteAlarm) bool { return s.from <= a.to+15*rimewatch.Minute && s.to >= a.from }) {
			found++
			if lasts {
				lastingFound++
			}
		}
	}
	fmt.Fprintf(stdout, "%s against the site's own alarm log, at its limits: %d of its %d alarms found, with %d of ours (%.2f times as many); of the %d that stand for longer than our delay %d.\n", name, found, len(alarms), len(spans),
		float64(len(spans))/float64(max(1, len(alarms))), lasting, lastingFound)
}

// learnsFromCurrent plays a unit of which only the current is measured.
func learnsFromCurrent(typ string, list []rimewatch.Reading) (state, after string) {
	judge := newUnitJudge(typ, nil)
	var ran, longest rimewatch.Time
	var reported []string
	var out []event
	after = "–"
	for i := range list {
		out = judge.take(&list[i], out[:0])
		if i > 0 && judge.state.Unit.Running() {
			gap := min(list[i].At-list[i-1].At, 5*rimewatch.Minute)
			ran += gap
			longest += gap
		}
		if after == "–" && !judge.state.Unit.Learning() {
			after = fmt.Sprintf("%.1f of %.1f recorded", float64(ran)/float64(rimewatch.Day), float64(list[len(list)-1].At-list[0].At)/float64(rimewatch.Day))
		}
		for k := range out {
			if e := &out[k]; e.what == "opened" && !ofRecording(e.typ) {
				reported = append(reported, fmt.Sprintf("%s on day %.1f", e.typ, float64(e.at-list[0].At)/float64(rimewatch.Day)))
			}
		}
	}
	state = judge.state.Predict.Report(&judge.state.Unit).State
	if len(reported) > 4 {
		reported = append(reported[:4], "…")
	}
	if len(reported) > 0 {
		state += "; reported: " + strings.Join(reported, ", ")
	}
	return fmt.Sprintf("%s, %d of %d h learnt", state, judge.state.Unit.LearntHours(), judge.state.Unit.NeededHours()), after
}
