package alert

import (
	"math"

	"github.com/rimewatch/rimewatch"
)

// byZone is how much of a departure an unusual zone temperature explains, in the
// measure's unit, or %, per K: the most that a unit may have learnt of it.
var byZone = map[rimewatch.Field]float64{
	rimewatch.CompressorDischargeTemp: 1.5, rimewatch.CompressorSuctionTemp: 1, rimewatch.AmpDraw: 2.5,
}

// deviates brackets when two windows of six hours in a row lay off what the
// unit had shown before, by a least-squares line over ambient temperature: from
// two thirds of the limit, by one and a half of it beside what the zone's
// temperature explains.
func (tr *trace) deviates(f rimewatch.Field, limit float64, relative bool, delay rimewatch.Time) span {
	all := tr.departs(f, limit/1.5, relative, tr.warm, 0)
	alike := tr.departs(f, limit/1.5, relative, tr.alike, 0)
	return span{min(all, alike), tr.runFrom(tr.departs(f, limit*1.5, relative, tr.alike, byZone[f]), delay)}
}

// departs is when the second of two windows in a row ended in which the counted
// readings lay beyond a limit and what the zone explains.
func (tr *trace) departs(f rimewatch.Field, limit float64, relative bool, counted []bool, byZone float64) rimewatch.Time {
	type mean struct{ x, y, z, n float64 }
	windows := make(map[rimewatch.Time]*mean)
	var order []rimewatch.Time
	for i := range tr.rs {
		k := tr.rs[i].At / windowLen
		if windows[k] == nil {
			windows[k] = &mean{}
			order = append(order, k)
		}
		if w := windows[k]; counted[i] && !tr.humped[i] {
			w.x += tr.rs[i].Values[rimewatch.AmbientTemp]
			w.y += tr.rs[i].Values[f]
			w.z += tr.rs[i].Values[rimewatch.ProductZoneTemp]
			w.n++
		}
	}
	var sx, sy, sz, sxx, sxy, n float64
	for _, k := range order {
		if w := windows[k]; (k+1)*windowLen <= tr.onset && w.n > 0 {
			x, y := w.x/w.n, w.y/w.n
			sx, sy, sz, sxx, sxy, n = sx+x, sy+y, sz+w.z/w.n, sxx+x*x, sxy+x*y, n+1
		}
	}
	slope := (sxy - sx*sy/n) / (sxx - sx*sx/n)
	off := func(w *mean) float64 {
		d := w.y/w.n - (sy/n + slope*(w.x/w.n-sx/n))
		if relative {
			d *= 100 / (sy / n)
		}
		return d * math.Copysign(1, limit)
	}
	before := false
	for _, k := range order {
		w := windows[k]
		if w.n < windowSamples {
			continue
		}
		is := off(w)-byZone*math.Abs(w.z/w.n-sz/n) > math.Abs(limit)
		if end := (k + 1) * windowLen; is && before && end > tr.onset {
			return end
		}
		before = is
	}
	return never
}

// runFrom is when the compressor has run warmly for a time from a moment on.
func (tr *trace) runFrom(from, d rimewatch.Time) rimewatch.Time {
	ran, counting := rimewatch.Time(0), false
	for i := range tr.rs {
		if !tr.warm[i] || tr.rs[i].At < from {
			continue
		}
		if counting && tr.warm[i-1] {
			ran += tr.rs[i].At - tr.rs[i-1].At
		}
		counting = true
		if ran >= d {
			return tr.rs[i].At
		}
	}
	return never
}

// runTime brackets when the compressor had run for much more of the time than
// before, in two windows in a row.
func (tr *trace) runTime() span {
	shares := make(map[rimewatch.Time][3]float64) // running, all, judged
	var order []rimewatch.Time
	for i := range tr.rs {
		k := tr.rs[i].At / windowLen
		w, ok := shares[k]
		if !ok {
			order = append(order, k)
		}
		if !tr.truth[i].Defrosting {
			w[1]++
			if tr.truth[i].Running {
				w[0]++
			}
			if tr.warm[i] && !tr.humped[i] {
				w[2]++
			}
		}
		shares[k] = w
	}
	usual, n := 0.0, 0.0
	for _, k := range order {
		if w := shares[k]; (k+1)*windowLen <= tr.onset {
			usual, n = usual+100*w[0]/w[1], n+1
		}
	}
	usual /= n
	first := func(limit float64) rimewatch.Time {
		before := false
		for _, k := range order {
			w := shares[k]
			if w[2] < windowSamples {
				continue
			}
			is := 100*w[0]/w[1]-usual > limit
			if end := (k + 1) * windowLen; is && before && end > tr.onset {
				return end
			}
			before = is
		}
		return never
	}
	return span{first(20 / 1.6), first(20 * 1.6)}
}
