package evaluate

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch/internal/lab/detector"
)

// recording makes a machine of four channels whose fault moves two of them from
// a row that differs from file to file. Half of the files are healthy.
func recording(seed uint64) *table {
	r := rand.New(rand.NewPCG(seed, 7))
	n, onset, end := 1200, -1, -1
	if seed%2 == 0 {
		onset = 450 + r.IntN(500)
		end = onset + 100 + r.IntN(150)
	}
	t := &table{channels: []string{"a", "b", "c", "d"}, labels: map[string][]bool{}}
	slow := 0.0
	for i := range n {
		slow += 0.05 * r.NormFloat64()
		row := []float64{10 + r.NormFloat64(), -3 + 0.1*r.NormFloat64(), 100 + slow, 5 * r.NormFloat64()}
		faulty := i >= onset && i < end
		if faulty {
			row[0] += 4
			row[1] -= 0.3
		}
		t.rows = append(t.rows, row)
		t.times = append(t.times, time.Date(2025, 1, 1, 0, 0, i, 0, time.UTC))
		t.labels["anomaly"] = append(t.labels["anomaly"], faulty)
		t.labels["changepoint"] = append(t.labels["changepoint"], i == onset || i == end)
	}
	return t
}

func recordings(n int) []pair {
	var pairs []pair
	for seed := range uint64(n) {
		t := recording(seed)
		p, _ := skabPair(t, detector.DefaultTuning())
		pairs = append(pairs, p)
	}
	return pairs
}

// meets is the bar that a detector must pass, on every measure at once.
func meets(pairs []pair) (string, bool) {
	s, e := scoreOutliers(pairs), scoreEpisodes(pairs)
	said := fmt.Sprintf("F1 %.3f, false %.1f %%, missed %.1f %%, found %d of %d, %d false episodes", s.F1, s.FAR, s.MAR, e.Detected, e.Anomalies, e.False)
	return said, s.F1 >= 0.75 && s.FAR <= 13.5 && s.MAR <= 28 && 4*e.False <= len(pairs)
}

func TestTheDetectorPassesAndTricksFail(t *testing.T) {
	pairs := recordings(24)
	if said, ok := meets(pairs); !ok {
		t.Errorf("the detector fails: %s", said)
	}
	_, from, to := bestClock(pairs, 100)
	longest := len(pairs[0].truth)
	for name, alarm := range map[string]func(i int) bool{
		"constant":             func(int) bool { return true },
		"silent":               func(int) bool { return false },
		"best clock":           func(i int) bool { return i >= from && i < to },
		"threshold on the row": func(i int) bool { return i > longest/2 },
		"from the first third": func(i int) bool { return i > longest/3 },
		"every tenth row":      func(i int) bool { return i%10 == 0 },
	} {
		if said, ok := meets(withAlarm(pairs, alarm)); ok {
			t.Errorf("%s passes: %s", name, said)
		}
	}
}

func TestChangePointTricksScoreBelowTheDetector(t *testing.T) {
	pairs := recordings(24)
	score := func(indicate func(i int) bool) float64 {
		out := make([]pair, len(pairs))
		for k, p := range pairs {
			out[k] = p
			out[k].indicated = make([]bool, len(p.truth))
			for i := range p.truth {
				out[k].indicated[i] = indicate(i)
			}
		}
		return scoreChanges(out, standardProfile).Standard
	}
	own := scoreChanges(pairs, standardProfile).Standard
	if own < 40 {
		t.Errorf("the detector's change points score %.1f", own)
	}
	for name, f := range map[string]func(i int) bool{
		"every row":   func(int) bool { return true },
		"every 60th":  func(i int) bool { return i%60 == 0 },
		"one instant": func(i int) bool { return i == 172 },
	} {
		if s := score(f); s > own/2 {
			t.Errorf("%s scores %.1f, the detector %.1f", name, s, own)
		}
	}
}

func TestVerdictsAreCausal(t *testing.T) {
	whole := recording(4)
	full := judge(whole, detector.DefaultTuning(), skabLearn, either(4))
	for _, cut := range []int{401, 650, 1000} {
		part := *whole
		part.rows = whole.rows[:cut]
		got := judge(&part, detector.DefaultTuning(), skabLearn, either(4))
		if diff := cmp.Diff(full.score[:cut], got.score); diff != "" {
			t.Errorf("the first %d rows are judged otherwise when later ones exist:\n%s", cut, diff)
		}
	}
}

// The labels may not help: with all of them erased the verdicts are the same.
func TestVerdictsDoNotDependOnLabels(t *testing.T) {
	verdicts := func(erase bool) string {
		dir, out := t.TempDir(), t.TempDir()
		for seed := range uint64(3) {
			rec := recording(seed)
			var b strings.Builder
			b.WriteString("datetime;a;b;c;d;anomaly;changepoint\n")
			for i, row := range rec.rows {
				fmt.Fprintf(&b, "%s;%g;%g;%g;%g;%s;%s\n", rec.times[i].Format(time.DateTime), row[0], row[1], row[2], row[3],
					bit(rec.labels["anomaly"][i] && !erase), bit(rec.labels["changepoint"][i] && !erase))
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.csv", seed)), []byte(b.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var report bytes.Buffer
		if err := Run(context.Background(), Options{Format: "skab", Paths: []string{dir}, Out: out}, &report); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(out, "verdicts.csv"))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	labelled, erased := verdicts(false), verdicts(true)
	if labelled != erased {
		t.Error("erasing the labels changes the verdicts")
	}
	rows, err := csv.NewReader(strings.NewReader(labelled)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"file", "row", "score", "alarm", "changepoint"}, rows[0]); diff != "" {
		t.Error(diff)
	}
	if len(rows) != 1+3*1200 || rows[1][1] != "0" || rows[1200][1] != "1199" {
		t.Errorf("%d rows, first %v", len(rows), rows[1])
	}
}
