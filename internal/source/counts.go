package source

import "sync/atomic"

// Counts are figures for metrics.
type Counts struct {
	Payloads, Accepted, Duplicates, Held, HeldFull, Rejected, Ignored, Vitals, Retained, LeftOut, Failed atomic.Int64

	expired atomic.Int64
}

func (c *Counts) add(o *Outcome, err error) {
	c.Payloads.Add(1)
	c.Accepted.Add(int64(o.Accepted))
	c.Duplicates.Add(int64(o.Duplicates))
	c.Held.Add(int64(o.Held))
	c.Rejected.Add(int64(o.Rejected))
	c.Ignored.Add(int64(o.Ignored))
	c.Vitals.Add(int64(o.Vitals))
	c.Retained.Add(int64(o.Retained))
	c.LeftOut.Add(int64(o.leftOut))
	if o.full {
		c.HeldFull.Add(1)
	} else if err != nil {
		c.Failed.Add(1)
	}
}

// TooLarge counts a payload that was too large to be read.
func (s *Service) TooLarge() {
	s.Counts.Payloads.Add(1)
	s.Counts.Rejected.Add(1)
	s.Counts.Failed.Add(1)
}

// Expired is how many payloads waited too long.
func (c *Counts) Expired() int64 { return c.expired.Load() }
