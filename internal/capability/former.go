package capability

import "github.com/rimewatch/rimewatch/internal/state"

// Former reads a state as it was written by hand. What it read may not be sound.
func (s *State) Former(c *state.Former) {
	s.former(c)
	c.Stamps(&s.born, &s.at, &s.idle, &s.stalled, &s.out, &s.since, &s.cold, &s.marks[0].at, &s.marks[1].at)
	c.Fixeds(&s.recent[0], &s.recent[1], &s.zone, &s.extreme, &s.began, &s.edge, &s.top, &s.marks[0].zone, &s.marks[1].zone)
	c.Bytes(&s.seen, &s.onFor, &s.offFor, &s.fails, &s.ran, (*uint8)(&s.cause), &s.downs, &s.other)
	s.excuse.former(c)
	c.Floats(&s.worstStay, &s.limit, &s.stop)
	c.Bools(&s.falling, &s.runs)
}

func (x *excuse) former(c *state.Former) {
	c.Shorts(&x.longest, &x.twice, &x.nearest, &x.apart)
	c.Stamps(&x.newest)
	c.Bytes(&x.pairs)
}

func (m *usual) former(c *state.Former) {
	c.Floats(&m.cutIn, &m.cutOut, &m.scatter, &m.high, &m.noise)
	c.Shorts(&m.starts, &m.stops)
}
