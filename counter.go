package rimewatch

// Count is what a counter did over readings that follow one another. The zero Count
// is that of no value at all.
type Count struct {
	First, Last float64
	Increase    float64 // what was counted from First to Last
	Known       bool    // there is a value
	Restarted   bool    // it began again from 0 between First and Last
}

// CountOf is the Count of one value.
func CountOf(v float64) Count { return Count{First: v, Last: v, Known: true} }

// Then returns the Count of c and of next, which follows it. A counter that is lower
// than before has restarted from 0.
func (c Count) Then(next Count) Count {
	switch {
	case !next.Known:
		return c
	case !c.Known:
		return next
	}
	both := Count{First: c.First, Last: next.Last, Known: true, Restarted: c.Restarted || next.Restarted}
	switch {
	case next.First < c.Last:
		both.Restarted = true
		both.Increase = c.Increase + next.First + next.Increase
	case both.Restarted:
		both.Increase = c.Increase + (next.First - c.Last) + next.Increase
	default:
		both.Increase = both.Last - both.First // which leaves no errors of adding up
	}
	return both
}
