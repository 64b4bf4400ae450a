package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch/internal/lab/detector"
)

// skabLearn is the number of rows that SKAB sets apart for learning.
const skabLearn = 400

// probation is the share of a file that NAB sets apart for learning.
const probation = 0.15

// longestProbation is its cap, in rows.
const longestProbation = 750

// runSKAB evaluates the pump rig.
func runSKAB(ctx context.Context, sources []source, w *verdictWriter, stdout io.Writer) error {
	var pairs []pair
	var tables []*table
	for _, src := range sources {
		if err := ctx.Err(); err != nil {
			return err
		}
		t, err := readTable(src.path)
		if err != nil {
			return err
		}
		p, j := skabPair(t, detector.DefaultTuning())
		if err := w.writeAll(src.name, &j); err != nil {
			return err
		}
		if p.truth == nil {
			continue
		}
		tables = append(tables, t)
		pairs = append(pairs, p)
		s := scoreOutliers([]pair{p})
		fmt.Fprintf(stdout, "%-24s false-alarm rate %5.1f %%  missed %5.1f %%\n", src.name, s.FAR, s.MAR)
	}
	if len(pairs) == 0 {
		fmt.Fprintln(stdout, "No labels: verdicts written, nothing scored.")
		return nil
	}
	s, e := scoreOutliers(pairs), scoreEpisodes(pairs)
	c := scoreChanges(pairs, standardProfile)
	always := scoreOutliers(withAlarm(pairs, func(int) bool { return true }))
	clock, from, to := bestClock(pairs, 13.5)
	fmt.Fprintf(stdout, `
SKAB, %d files, rows from %d
outliers      F1 %.3f  false-alarm rate %.1f %%  missed %.1f %%
episodes      %d of %d found, %d false in %d normal rows
change points score %.1f  (%d of %d missed, %d false)
for comparison: constant alarm F1 %.3f at %.0f %% false alarms; an alarm in rows %d-%d of every file, whatever they hold, F1 %.3f
`, len(pairs), skabLearn, s.F1, s.FAR, s.MAR, e.Detected, e.Anomalies, e.False, e.NormalRows,
		c.Standard, c.Missed, c.Changes, c.False, always.F1, always.FAR, from+skabLearn, to+skabLearn, clock.F1)
	if err := crossValidate(ctx, tables, stdout); err != nil {
		return err
	}
	printSpliced(stdout, tables)
	printNoise(stdout)
	return nil
}

// skabPair judges a file of the rig. Without labels it has no truth.
func skabPair(t *table, tuning detector.Tuning) (pair, judged) {
	j := judge(t, tuning, skabLearn, either(len(t.channels)))
	truth, ok := t.labels["anomaly"]
	if !ok || len(t.rows) <= skabLearn {
		return pair{}, j
	}
	p := pair{times: t.times[skabLearn:], truth: truth[skabLearn:], alarm: j.alarm[skabLearn:], indicated: j.changepoint[skabLearn:], change: make([]bool, len(truth)-skabLearn)}
	if c, ok := t.labels["changepoint"]; ok {
		p.change = c[skabLearn:]
	}
	return p, j
}

// runNAB evaluates single-channel recordings with failure windows, which
// windows.json beside a file or above it names.
func runNAB(ctx context.Context, sources []source, w *verdictWriter, stdout io.Writer) error {
	total, count := 0.0, 0
	for _, src := range sources {
		if err := ctx.Err(); err != nil {
			return err
		}
		t, err := readTable(src.path)
		if err != nil {
			return err
		}
		learn := min(int(probation*float64(len(t.rows))), longestProbation)
		j := judge(t, detector.DefaultTuning(), learn, either(len(t.channels)))
		if err := w.writeAll(src.name, &j); err != nil {
			return err
		}
		windows, err := nabWindows(src.path, t.times)
		if err != nil {
			return err
		}
		if windows == nil {
			fmt.Fprintf(stdout, "%s: no windows known, nothing scored\n", src.name)
			continue
		}
		openings := make([]bool, len(j.alarm))
		for i := 1; i < len(j.alarm); i++ {
			if openings[i] = j.alarm[i] && !j.alarm[i-1]; openings[i] {
				fmt.Fprintf(stdout, "%s: alarm opened %s, score %.2f\n", src.name, t.times[i].Format(time.DateTime), j.score[i])
			}
		}
		s, rows := scoreNAB(openings, windows, learn, standardProfile), scoreNAB(j.alarm, windows, learn, standardProfile)
		fmt.Fprintf(stdout, "%s: windows found %d of %d, false alarms %d, standard score %.1f (%.1f when every row under alarm counts as a detection)\n",
			src.name, s.Found, s.Want, s.False, s.Score, rows.Score)
		total += s.Score
		count++
	}
	if count > 1 {
		fmt.Fprintf(stdout, "mean standard score of %d files %.1f\n", count, total/float64(count))
	}
	return nil
}

// nabWindows finds a recording's failure windows as rows; nil without labels.
// Keys of windows.json are matched by their last element.
func nabWindows(csvPath string, times []time.Time) ([]span, error) {
	for _, dir := range []string{filepath.Dir(csvPath), filepath.Dir(filepath.Dir(csvPath))} {
		b, err := os.ReadFile(filepath.Join(dir, "windows.json"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("evaluate: %w", err)
		}
		var all map[string][][2]string
		if err := json.Unmarshal(b, &all); err != nil {
			return nil, fmt.Errorf("evaluate: windows.json: %w", err)
		}
		for name, windows := range all {
			if path.Base(name) != filepath.Base(csvPath) {
				continue
			}
			spans := make([]span, 0, len(windows))
			for _, w := range windows {
				from, ok1 := parseTime(strings.TrimSpace(w[0]))
				to, ok2 := parseTime(strings.TrimSpace(w[1]))
				if !ok1 || !ok2 {
					return nil, fmt.Errorf("evaluate: windows.json: %q is no window", w)
				}
				spans = append(spans, rowsWithin(times, from, to))
			}
			return spans, nil
		}
	}
	return nil, nil
}

func rowsWithin(times []time.Time, from, to time.Time) span {
	s := span{from: -1, to: -2}
	for i, t := range times {
		if t.Before(from) || t.After(to) {
			continue
		}
		if s.from < 0 {
			s.from = i
		}
		s.to = i
	}
	return s
}

// runIMS evaluates run-to-failure tests of bearings: each column is the RMS
// vibration of a bearing, and only a rise of it is damage.
func runIMS(ctx context.Context, sources []source, w *verdictWriter, stdout io.Writer) error {
	for _, src := range sources {
		if err := ctx.Err(); err != nil {
			return err
		}
		t, err := readTable(src.path)
		if err != nil {
			return err
		}
		directions := either(len(t.channels))
		for k := range directions {
			directions[k] = detector.Upwards
		}
		j := judge(t, detector.DefaultTuning(), int(probation*float64(len(t.rows))), directions)
		last := t.times[len(t.times)-1]
		for k, name := range t.channels {
			first, before := -1, false
			for i := range t.rows {
				alarm := j.alarm[i] && j.named[i] == k
				if err := w.write(src.name+"#"+name, i, j.score[i], alarm, alarm != before); err != nil {
					return fmt.Errorf("evaluate: %w", err)
				}
				if alarm && first < 0 {
					first = i
				}
				before = alarm
			}
			if first < 0 {
				fmt.Fprintf(stdout, "%s: %s no alarm\n", src.name, name)
				continue
			}
			fmt.Fprintf(stdout, "%s: %s alarmed in row %d at %s, %.1f h before the end\n", src.name, name, first, t.times[first].Format(time.DateTime), last.Sub(t.times[first]).Hours())
		}
	}
	return nil
}
