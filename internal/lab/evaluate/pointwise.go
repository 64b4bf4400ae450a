package evaluate

import "time"

// pair is the truth and the verdict over the judged part of one file.
type pair struct {
	times     []time.Time
	truth     []bool
	alarm     []bool
	change    []bool // true change points
	indicated []bool // change points of the verdict
}

// outlierScore counts points: F1 of the anomalous class, false-alarm rate
// FP/(FP+TN) and missed-alarm rate FN/(FN+TP), both in percent.
type outlierScore struct{ F1, FAR, MAR float64 }

// scoreOutliers pools the points of all pairs.
func scoreOutliers(pairs []pair) outlierScore {
	var tp, fp, fn, tn float64
	for _, p := range pairs {
		for i, y := range p.truth {
			switch {
			case y && p.alarm[i]:
				tp++
			case p.alarm[i]:
				fp++
			case y:
				fn++
			default:
				tn++
			}
		}
	}
	return outlierScore{ratio(tp, tp+(fn+fp)/2), 100 * ratio(fp, fp+tn), 100 * ratio(fn, fn+tp)}
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// episodeScore is the operator's view of alarms.
type episodeScore struct {
	Detected, Anomalies int // stretches of anomaly with and without an alarm in them
	False               int // alarms that open outside an anomaly
	NormalRows          int
}

// scoreEpisodes counts alerts: an alert opens after at least 60 quiet rows, and
// is false when neither its row nor one of the 60 before it is anomalous.
func scoreEpisodes(pairs []pair) episodeScore {
	const quiet = 60
	var s episodeScore
	for _, p := range pairs {
		n := len(p.truth)
		for i := 0; i < n; i++ {
			if !p.truth[i] {
				s.NormalRows++
				continue
			}
			if i > 0 && p.truth[i-1] {
				continue
			}
			s.Anomalies++
			for j := i; j < n && p.truth[j]; j++ {
				if p.alarm[j] {
					s.Detected++
					break
				}
			}
		}
		last := -quiet - 1
		for i := range n {
			if !p.alarm[i] {
				continue
			}
			if i-last > quiet && !anyTrue(p.truth[max(0, i-quiet):i+1]) {
				s.False++
			}
			last = i
		}
	}
	return s
}

func anyTrue(b []bool) bool {
	for _, v := range b {
		if v {
			return true
		}
	}
	return false
}

// bestClock finds the alarm that looks at nothing but the row number and scores
// best: on from one row to another in every file, at a false-alarm rate of at
// most maxFAR percent. It shows how much of a score comes from the layout of the data
// away.
func bestClock(pairs []pair, maxFAR float64) (best outlierScore, from, to int) {
	const step = 25
	longest := 0
	for _, p := range pairs {
		longest = max(longest, len(p.truth))
	}
	for a := 0; a < longest; a += step {
		for b := a + step; b <= longest+step; b += step {
			s := scoreOutliers(withAlarm(pairs, func(i int) bool { return i >= a && i < b }))
			if s.FAR <= maxFAR && s.F1 > best.F1 {
				best, from, to = s, a, b
			}
		}
	}
	return best, from, to
}

// withAlarm replaces the verdict by a function of the row number.
func withAlarm(pairs []pair, alarm func(i int) bool) []pair {
	out := make([]pair, len(pairs))
	for k, p := range pairs {
		out[k] = p
		out[k].alarm = make([]bool, len(p.truth))
		for i := range out[k].alarm {
			out[k].alarm[i] = alarm(i)
		}
	}
	return out
}
