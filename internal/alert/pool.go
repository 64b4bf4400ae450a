package alert

import (
	"math/bits"

	"github.com/rimewatch/rimewatch"
)

// poolSize bounds the conditions that are followed at once on one device. The
// product temperature, what does not cool, and presence always find a slot; ten are for all other
// rules, of which a device in the worst of states shows about six, or as many as it has broken sensors,
// by which little else is judged then.
const (
	poolSize = 14
	reserved = 1<<ruleHigh | 1<<ruleLow | 1<<ruleOffline | 1<<ruleCooling
)

// pool keeps the tracks of the few rules that are not idle.
type pool struct {
	rules  ruleSet // that have a track
	slots  uint16  // set of slots in use
	index  [numRules]uint8
	tracks [poolSize]track
}

func lowest(set ruleSet) rule { return rule(bits.TrailingZeros64(uint64(set))) }

// track is that of rule i, nil when it is idle.
func (p *pool) track(i rule) *track {
	if p.rules&(1<<i) == 0 {
		return nil
	}
	return &p.tracks[p.index[i]]
}

// claim gives rule i a track. When all are taken, the memory of a past alert
// goes first, then a pending condition of a less important rule; an active
// alert never does. nil means that rule i has to wait.
func (p *pool) claim(i rule, active ruleSet) *track {
	if !p.room(i) && !p.evict(i, active) {
		return nil
	}
	k := bits.TrailingZeros16(^p.slots)
	p.slots |= 1 << k
	p.rules |= 1 << i
	p.index[i] = uint8(k)
	p.tracks[k] = track{}
	return &p.tracks[k]
}

// room reports whether a slot is free for rule i.
func (p *pool) room(i rule) bool {
	const others = poolSize - 4
	return reserved&(1<<i) != 0 || bits.OnesCount64(uint64(p.rules&^reserved)) < others
}

// victim is the rule, of those that share slots with rule i, that gives its own
// up first.
func (p *pool) victim(i rule, active ruleSet) (j rule, ok bool) {
	for set := p.rules &^ (active | reserved); set != 0; set &= set - 1 {
		k := lowest(set)
		if p.track(k).idle() {
			return k, true
		}
		if k > i {
			j, ok = k, true
		}
	}
	return j, ok
}

func (p *pool) evict(i rule, active ruleSet) bool {
	j, ok := p.victim(i, active)
	if ok {
		p.release(j)
	}
	return ok
}

func (p *pool) release(i rule) {
	k := p.index[i]
	p.tracks[k], p.index[i] = track{}, 0
	p.slots &^= 1 << k
	p.rules &^= 1 << i
}

// tidy gives the track of rule i back when it holds nothing worth keeping at e.
func (p *pool) tidy(i rule, active bool, e rimewatch.Time) {
	t := p.track(i)
	if t == nil || active || !t.idle() {
		return
	}
	if last := t.start.Time(); last == 0 || e-last > flapWindow {
		p.release(i)
	}
}
