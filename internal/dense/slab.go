package dense

// slabItems is how many things are made at a time: of a few hundred bytes each, so that
// what is left over is little.
const slabItems = 32

// Slab makes many things that last, side by side: there is less for the garbage
// collector to look up, and who goes from one to the next finds it near. Nothing of
// what is made together is collected before all of it can be. The zero value is ready
// for use.
type Slab[T any] struct{ left []T }

// New returns a zero T.
func (s *Slab[T]) New() *T {
	if len(s.left) == 0 {
		s.left = make([]T, slabItems)
	}
	item := &s.left[0]
	s.left = s.left[1:]
	return item
}
