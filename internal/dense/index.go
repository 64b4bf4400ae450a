// Package dense finds things by ids that a counter gave out. It is pure.
package dense

import (
	"iter"
	"maps"
	"slices"
)

const pageSize = 1024

// farID bounds the pages: no counter comes that far, but a damaged file may hold
// any number, and it must not cost memory by its size.
const farID = 1 << 31

// page holds what has the ids of a range of pageSize.
type page[T any] struct {
	items [pageSize]*T
	n     int
}

// Index finds a *T by its id in two loads, where a map of many hashes and
// compares: ids come from a counter, so they lie close together. A page of ids
// whose things are all gone takes eight bytes. The zero value is empty. It must
// not be changed by one goroutine while another uses it.
type Index[T any] struct {
	pages []*page[T]
	n     int // in pages
	far   map[int64]*T
}

// Len returns the number of things.
func (x *Index[T]) Len() int { return x.n + len(x.far) }

// Get returns the thing with the id, nil when there is none.
func (x *Index[T]) Get(id int64) *T {
	p := uint64(id) / pageSize
	if id >= farID {
		return x.far[id]
	}
	if p >= uint64(len(x.pages)) || x.pages[p] == nil {
		return nil
	}
	return x.pages[p].items[uint64(id)%pageSize]
}

// Put makes item the one with the id, which is not negative; nil takes away what
// is there.
func (x *Index[T]) Put(id int64, item *T) {
	i, k := id/pageSize, id%pageSize
	if id >= farID {
		x.putFar(id, item)
		return
	}
	if item == nil {
		x.remove(i, k)
		return
	}
	for i >= int64(len(x.pages)) {
		x.pages = append(x.pages, nil)
	}
	p := x.pages[i]
	if p == nil {
		p = new(page[T])
		x.pages[i] = p
	}
	if p.items[k] == nil {
		p.n++
		x.n++
	}
	p.items[k] = item
}

func (x *Index[T]) putFar(id int64, item *T) {
	if item == nil {
		delete(x.far, id)
		return
	}
	if x.far == nil {
		x.far = make(map[int64]*T)
	}
	x.far[id] = item
}

func (x *Index[T]) remove(i, k int64) {
	if i >= int64(len(x.pages)) || x.pages[i] == nil || x.pages[i].items[k] == nil {
		return
	}
	p := x.pages[i]
	p.items[k] = nil
	x.n--
	if p.n--; p.n == 0 {
		x.pages[i] = nil
	}
}

// All yields every thing, by id. Things may be taken away meanwhile.
func (x *Index[T]) All() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for _, p := range x.pages {
			if p == nil {
				continue
			}
			for _, item := range p.items {
				if item != nil && !yield(item) {
					return
				}
			}
		}
		for _, id := range slices.Sorted(maps.Keys(x.far)) {
			if item := x.far[id]; item != nil && !yield(item) {
				return
			}
		}
	}
}
