package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
)

// Page selects a part of a list: by number or by cursor. The zero
// value is the first page of 15.
type Page struct {
	Number int    // from 1; 0 = the first
	Size   int    // 1–100; 0 = 15
	Cursor string // Pagination.NextCursor of an earlier answer; goes before Number
}

func (p Page) set(q url.Values) {
	if p.Number != 0 {
		q.Set("page", strconv.Itoa(p.Number))
	}
	if p.Size != 0 {
		q.Set("per_page", strconv.Itoa(p.Size))
	}
	if p.Cursor != "" {
		q.Set("cursor", p.Cursor)
	}
}

// Pagination describes which part of a list an answer holds. With a cursor only
// PerPage and NextCursor are known; the others are 0.
type Pagination struct {
	CurrentPage int    `json:"current_page"`
	PerPage     int    `json:"per_page"`
	Total       int    `json:"total"`
	LastPage    int    `json:"last_page"`
	From        int    `json:"from"`
	To          int    `json:"to"`
	NextCursor  string `json:"next_cursor"` // "" at the end
}

// largestPage is the service's largest page of devices and alerts.
const largestPage = 100

// all follows the cursors of a list to its end. It stops at the first error.
func all[T any](ctx context.Context, size int, list func(context.Context, Page) ([]T, Pagination, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		page := Page{Size: size}
		for {
			items, at, err := list(ctx, page)
			if err != nil {
				var zero T
				yield(zero, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if at.NextCursor == "" {
				return
			}
			page.Cursor = at.NextCursor
		}
	}
}

// setText sets a parameter unless it is empty.
func setText(q url.Values, name, value string) {
	if value != "" {
		q.Set(name, value)
	}
}
