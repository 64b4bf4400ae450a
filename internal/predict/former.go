package predict

import "github.com/rimewatch/rimewatch/internal/state"

const version4 = 4 // the one that was written by hand

func (s *State) former(c *state.Former) {
	for ch := range trendChannels {
		for i := range historyLen {
			var v int16
			c.Signed(&v)
			s.hist.put(ch, i, v)
		}
	}
	c.Bytes(&s.hist.next, &s.hist.n, &s.raised)
	s.quick.former(c)
	s.alarm.former(c)
}

func (q *quick) former(c *state.Former) {
	for i := range q.early {
		for k := range q.early[i] {
			c.Reals(&q.early[i][k].mean, &q.early[i][k].vari)
			c.Shorts(&q.early[i][k].n)
		}
	}
	for i := range q.mean {
		c.Floats(&q.mean[i])
	}
	c.Stamps(&q.from, &q.muted)
	c.Floats(&q.tripAmp)
	c.Bytes(&q.n, &q.steady, &q.cried)
}

func (a *alarm) former(c *state.Former) {
	c.Stamps(&a.since, &a.opened, &a.renewed)
	c.Floats(&a.lead.h, &a.lead.lo, &a.lead.hi, &a.score, &a.risk)
	c.Bytes(&a.fault, (*uint8)(&a.departs), &a.second, &a.calm, &a.other, &a.pending, &a.weak)
	c.Bools(&a.critical, &a.sudden, &a.supported, &a.byEvent, &a.hasLead, &a.asks)
}
