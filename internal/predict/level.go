package predict

// level tells on from off by a signal that has two levels, such as a current.
// Both are learnt from the signal alone. Starting currents are spikes and no
// level: it takes three like samples to establish a higher one.
type level struct {
	lo, hi float32
	cand   float32 // a higher level that is being considered
	times  uint8   // samples in favour of it
	set    bool
	on     bool
}

// observe takes a sample and tells whether the signal is on. known is false as
// long as the signal has shown only one level. spike is a sample far above the
// upper level.
func (l *level) observe(v, gap float32) (on, known, spike bool) {
	if !l.set {
		*l = level{lo: v, hi: v, set: true}
		return false, false, false
	}
	known = l.hi-l.lo > max(0.35*l.hi, gap)
	spike = known && v > 2.5*l.hi
	if v > 1.15*l.hi+gap/4 {
		l.consider(v)
	} else {
		l.times = 0
	}
	if v < l.lo {
		l.lo = v
	}
	if !known {
		l.on = false
		return false, false, spike
	}
	share := float32(0.6)
	if l.on {
		share = 0.4
	}
	if !spike {
		l.on = v > l.lo+share*(l.hi-l.lo)
	}
	switch {
	case spike:
	case l.on:
		l.hi += 0.01 * (v - l.hi)
	default:
		l.lo += 0.02 * (v - l.lo)
	}
	return l.on, true, spike
}

func (l *level) consider(v float32) {
	if l.times > 0 && v > 0.75*l.cand && v < 1.25*l.cand {
		l.cand += (v - l.cand) / 2
		if l.times++; l.times >= 3 {
			l.hi, l.times = l.cand, 0
		}
		return
	}
	l.cand, l.times = v, 1
}

// forget gives up the upper level when the signal has not reached it for long.
func (l *level) forget() { l.hi, l.times, l.on = l.lo, 0, false }
