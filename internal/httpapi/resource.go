package httpapi

import (
	"context"
	"fmt"
	"hash/fnv"
	"net/http"
	"strconv"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Resource declares the common properties of the routes of a store.Resource. List, Get,
// Create, Update and Delete make the routes. The store bounds how many there are, and
// records changes and their actors; the frame replays answers to requests with a repeated key.
type Resource[T any] struct {
	Path      string // of the list; one is at Path/{id}
	ID        string // of the operations: get-ID, list-IDs
	Tag       string
	One, Many string // in the summaries: a route, routes
	Read      access
	Write     access
	// Sited routes heed the sites that a caller is limited to, as Things does; SitedReads
	// are those that read.
	Sited, SitedReads bool
	Things            func(ctx context.Context) store.Resource[T]
	Key               func(*T) (id, revision int64)
	Named             func(*T) string                 // its name, by which people may take its deletion back; nil = it does not wait
	Changed           func(ctx context.Context, x *T) // called after every change; nil = nothing
	Cursors           *CursorCodec

	// The descriptions of the operations, and failures of Create and Update, and of Delete,
	// beyond those that all have.
	ListText, CreateText, UpdateText, DeleteText string
	Also, DeleteAlso                             []rimewatch.Code
}

// row is the common part of the routes. verb is of the operation's id.
func (r *Resource[T]) row(method, path, verb, summary string) Route {
	id := verb + "-" + r.ID
	return Route{
		Method: method, Path: r.Path + path, ID: id, Tag: r.Tag, Summary: summary, Access: r.Write, Sited: r.Sited, Revised: verb != "list",
	}
}

// ListRow is the route of the list without what answers it, and so are the others of
// theirs.
func (r *Resource[T]) ListRow(bind binder) Route {
	rt := r.row(http.MethodGet, "", "list", "List "+r.Many)
	rt.ID += "s"
	rt.Access, rt.Description, rt.Bind, rt.Sited = r.Read, r.ListText, bind, r.Sited || r.SitedReads
	return rt
}

// GetRow is ListRow for one.
func (r *Resource[T]) GetRow(bind binder) Route {
	rt := r.row(http.MethodGet, "/{id}", "get", "Get "+r.One)
	rt.Access, rt.Bind, rt.Sited = r.Read, bind, r.Sited || r.SitedReads
	return rt
}

// CreateRow is ListRow for a new one.
func (r *Resource[T]) CreateRow(bind binder) Route {
	rt := r.row(http.MethodPost, "", "create", "Create "+r.One)
	rt.Body, rt.Status, rt.Description, rt.Bind = JSONBody, http.StatusCreated, r.CreateText, bind
	rt.Also = append([]rimewatch.Code{rimewatch.CodeQuotaExceeded}, r.Also...)
	return rt
}

// UpdateRow is ListRow for a change.
func (r *Resource[T]) UpdateRow(bind binder) Route {
	rt := r.row(http.MethodPatch, "/{id}", "update", "Change "+r.One)
	rt.Body, rt.Description, rt.Also, rt.Bind = JSONBody, r.UpdateText, r.Also, bind
	return rt
}

// DeleteRow is ListRow for a deletion.
func (r *Resource[T]) DeleteRow(bind binder) Route {
	rt := r.row(http.MethodDelete, "/{id}", "delete", "Delete "+r.One)
	rt.Description, rt.Also, rt.Bind = r.DeleteText, r.DeleteAlso, bind
	if r.Named != nil {
		rt.Undo = About(r.deletable)
	}
	return rt
}

// Name finds the name of the thing that a call is about.
func (r *Resource[T]) Name(c *Call) (string, error) {
	id := IDInput{ID: c.R.PathValue("id")}
	x, err := r.Things(c.R.Context()).Get(c.R.Context(), c.Workspace(), id.Number())
	if err != nil {
		return "", err
	}
	_, revision := r.Key(&x)
	return r.Named(&x), store.CheckRevision(c.R.Context(), revision)
}

// deletable is Name for a thing that can be deleted: a refusal comes at once.
func (r *Resource[T]) deletable(c *Call) (string, error) {
	name, err := r.Name(c)
	if err == nil && len(r.DeleteAlso) > 0 {
		id := IDInput{ID: c.R.PathValue("id")}
		err = r.Things(c.R.Context()).Delete(store.Rehearse(c.R.Context()), c.Workspace(), id.Number())
	}
	return name, err
}

// Show sets the ETag of an answer about x.
func (r *Resource[T]) Show(ctx context.Context, x *T) {
	_, revision := r.Key(x)
	CallOf(ctx).Header("ETag", fmt.Sprintf("%q", fmt.Sprint(revision)))
}

// Made is Show for one that was just made, of which others hear.
func (r *Resource[T]) Made(ctx context.Context, x *T) {
	id, _ := r.Key(x)
	CallOf(ctx).Header("Location", fmt.Sprintf("%s%s/%d", Prefix, r.Path, id))
	r.Edited(ctx, x)
}

// Edited is Show for one that was just changed, of which others hear.
func (r *Resource[T]) Edited(ctx context.Context, x *T) {
	if r.Changed != nil {
		r.Changed(ctx, x)
	}
	r.Show(ctx, x)
}

// Paged is embedded in the data of a list that comes in pages.
type Paged struct {
	Pagination wire.Pagination `json:"pagination"`
}

func (p *Paged) turn(page wire.Pagination) { p.Pagination = page }

type listed[L any] interface {
	*L
	turn(wire.Pagination)
}

// mostListed is how much of a list is answered where no page is asked for.
const mostListed = 10_000

// AllOrPage are the parameters of a list that is whole unless a page is asked for.
type AllOrPage struct {
	Page    int64  `query:"page" minimum:"1" doc:"Number of the page, from 1. Past the end the list is empty. Without page, per_page and cursor the list is whole, up to 10,000 items."`
	PerPage int64  `query:"per_page" minimum:"1" doc:"Items per page, 15 if another parameter of pages is there. More than 1000 is taken as 1000; the number used is in the answer."`
	Cursor  string `query:"cursor" maxLength:"200" doc:"next_cursor of an earlier answer. It goes before page. Keep the filters the same."`
}

func (p *AllOrPage) paging() (in PageInput, all bool) {
	if *p == (AllOrPage{}) {
		return PageInput{}, true
	}
	in = PageInput(*p)
	if in.Page == 0 {
		in.Page = 1
	}
	if in.PerPage == 0 {
		in.PerPage = 15
	}
	return in, false
}

func (p *PageInput) paging() (in PageInput, all bool) { return *p, false }

// pages is embedded AllOrPage or PageInput.
type pages[In any] interface {
	*In
	paging() (in PageInput, all bool)
}

// All selects all things of a list without filters.
func All(*Call, *AllOrPage) store.Selection { return store.Selection{} }

// List answers with the things that a filter selects; show writes them.
func List[T, In, L any, PI pages[In], PL listed[L]](r *Resource[T], filter func(*Call, *In) store.Selection, show func(ctx context.Context, list []T) (L, error)) Route {
	tag := fnv.New32a() // of the list that a cursor belongs to
	_, _ = tag.Write([]byte(r.Path))
	rt := r.ListRow(Handle(func(ctx context.Context, in *In) (data L, err error) {
		c := CallOf(ctx)
		s := filter(c, in)
		var list []T
		var page wire.Pagination
		if from, all := PI(in).paging(); all {
			s.Limit = mostListed
			var total int
			list, total, err = r.Things(ctx).Select(ctx, c.Workspace(), s)
			page = whole(len(list), total)
		} else {
			of := ListOf{Cursors: r.Cursors, Kind: CursorResource, Owner: c.Workspace()}
			list, page, err = Page(c, of, &from, func(from Start) ([]T, int, error) {
				if from.A != 0 && from.B != int64(tag.Sum32()) {
					return nil, 0, rimewatch.Invalid("cursor", "is not a cursor of this list")
				}
				s.Page = store.Page{After: from.A, Offset: from.Offset, Limit: from.Limit}
				return r.Things(ctx).Select(ctx, c.Workspace(), s)
			}, func(x *T) (int64, int64) {
				id, _ := r.Key(x)
				return id, int64(tag.Sum32())
			})
		}
		if err != nil {
			return data, err
		}
		if data, err = show(ctx, list); err == nil {
			PL(&data).turn(page)
		}
		return data, err
	}))
	rt.Paged, rt.Listed = true, strings.ReplaceAll(r.ID, "-", "_")+"s"
	return rt
}

// whole describes a list of n out of total items in one page.
func whole(n, total int) wire.Pagination {
	first, last := int64(1), max(1, (total+mostListed-1)/mostListed)
	p := wire.Pagination{PerPage: mostListed, CurrentPage: &first, Total: &total, LastPage: &last}
	if n > 0 {
		p.From, p.To = new(1), &n
	}
	return p
}

// Get answers with one thing.
func Get[T, D any](r *Resource[T], show func(ctx context.Context, x *T) (D, error)) Route {
	return r.GetRow(Handle(func(ctx context.Context, in *IDInput) (data D, err error) {
		x, err := r.Things(ctx).Get(ctx, CallOf(ctx).Workspace(), in.Number())
		if err != nil {
			return data, err
		}
		r.Show(ctx, &x)
		return show(ctx, &x)
	}))
}

// Create makes a thing by build, in the caller's workspace.
func Create[T, B, D any](r *Resource[T], build func(ctx context.Context, body *B) (T, error), show func(ctx context.Context, x *T) (D, error)) Route {
	return r.CreateRow(Handle(func(ctx context.Context, in *BodyInput[B]) (data D, err error) {
		x, err := build(ctx, &in.Body)
		if err == nil {
			err = r.Things(ctx).Create(ctx, &x)
		}
		if err != nil {
			return data, err
		}
		r.Made(ctx, &x)
		return show(ctx, &x)
	}))
}

// Update changes a thing by edit, which runs in the transaction.
func Update[T, B, D any](r *Resource[T], edit func(ctx context.Context, body *B) (func(*T) error, error), show func(ctx context.Context, x *T) (D, error)) Route {
	return r.UpdateRow(Handle(func(ctx context.Context, in *IDBody[B]) (data D, err error) {
		change, err := edit(ctx, &in.Body)
		if err != nil {
			return data, err
		}
		x, err := r.Things(ctx).Update(ctx, CallOf(ctx).Workspace(), in.Number(), change)
		if err != nil {
			return data, err
		}
		r.Edited(ctx, &x)
		return show(ctx, &x)
	}))
}

// Act changes a thing without a body, at Path/{id}/verb.
func Act[T, D any](r *Resource[T], verb, summary string, change func(ctx context.Context, x *T) error, show func(ctx context.Context, x *T) (D, error)) Route {
	rt := r.row(http.MethodPost, "/{id}/"+verb, verb, summary)
	rt.Also = []rimewatch.Code{rimewatch.CodeConflict}
	rt.Bind = Handle(func(ctx context.Context, in *IDInput) (data D, err error) {
		x, err := r.Things(ctx).Update(ctx, CallOf(ctx).Workspace(), in.Number(), func(x *T) error { return change(ctx, x) })
		if err != nil {
			return data, err
		}
		r.Edited(ctx, &x)
		return show(ctx, &x)
	})
	return rt
}

// Delete deletes a thing.
func Delete[T any](r *Resource[T]) Route {
	return r.DeleteRow(Handle(func(ctx context.Context, in *IDInput) (Done, error) {
		var x T
		err := r.Things(ctx).Delete(ctx, CallOf(ctx).Workspace(), in.Number())
		if err == nil && r.Changed != nil {
			r.Changed(ctx, &x)
		}
		return Done{}, err
	}))
}

// takesIfMatch reports whether a route heeds If-Match.
func (rt *Route) takesIfMatch() bool {
	return rt.Revised && !safeMethod(rt.Method) && strings.Contains(rt.Path, "{")
}

// ifMatch has the changes of a request heed its If-Match (RFC 9110, 13.1.1): the
// revisions that it lists, in the words of ETag. * is any.
func ifMatch(ctx context.Context, sent []string) context.Context {
	if len(sent) == 0 {
		return ctx
	}
	var revisions []int64
	for part := range strings.SplitSeq(strings.Join(sent, ","), ",") {
		part = strings.TrimSpace(part)
		if part == "*" {
			return ctx
		}
		// A weak one is ours, too: it is that of an answer which was compressed.
		n, err := strconv.ParseInt(strings.Trim(strings.TrimPrefix(part, "W/"), `"`), 10, 64)
		if err == nil {
			revisions = append(revisions, n)
		}
	}
	return store.IfRevision(ctx, revisions...)
}
