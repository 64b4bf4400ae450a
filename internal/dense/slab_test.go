package dense

import "testing"

// TestSlab: no two things of a slab are the same, and all of them are new.
func TestSlab(t *testing.T) {
	var (
		s     Slab[int]
		items []*int
	)
	for i := range 3*slabItems + 1 {
		item := s.New()
		if *item != 0 {
			t.Fatalf("item %d is %d, want 0", i, *item)
		}
		*item = i + 1
		items = append(items, item)
	}
	for i, item := range items {
		if *item != i+1 {
			t.Errorf("item %d became %d", i, *item)
		}
	}
}
