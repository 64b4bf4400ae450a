package events

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/event"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// FeedInput selects events.
type FeedInput struct {
	Types   string `query:"types" maxLength:"1000" doc:"Only these types, between commas. Default: all that the token may read." example:"alert.opened,alert.resolved"`
	SiteID  int64  `query:"site_id" minimum:"1" doc:"Only events at this site."`
	After   string `query:"after" maxLength:"200" doc:"Only what came after it: next_cursor of an earlier answer, or the id of an event. It goes before since." example:"evt_1_42"`
	Since   string `query:"since" format:"date-time" doc:"Only what happened at or after this moment. Without after and since: from the oldest event that is kept."`
	PerPage int64  `query:"per_page" minimum:"1" default:"15" doc:"Events per page. More than 1000 is taken as 1000. A page may have fewer although more follow: see has_more."`
}

// Feed is a page of events.
type Feed struct {
	Events     []wire.Event `json:"events"`
	NextCursor string       `json:"next_cursor" doc:"For after: what comes behind this page, now or later. It is there when nothing follows yet, too: keep it, and ask again."`
	HasMore    bool         `json:"has_more" doc:"More events may follow at once. When false, you have seen all."`
}

// Bounds of what one call reads: that few of many events are asked for must not read them all.
const (
	mostPerPage = 1000
	rowsAtOnce  = 200
	rowsOfCall  = 10_000
)

func (a *api) listEvents(ctx context.Context, in *FeedInput) (Feed, error) {
	c := httpapi.CallOf(ctx)
	types, err := wanted(c, in.Types)
	if err != nil {
		return Feed{}, err
	}
	after, err := a.start(ctx, in)
	if err != nil {
		return Feed{}, err
	}
	_, newest, err := a.Store.Outbox().EventRange(ctx, c.Workspace())
	if err != nil {
		return Feed{}, err
	}
	out := Feed{Events: []wire.Event{}}
	most, within, words := int(min(in.PerPage, mostPerPage)), c.Principal.Sites(), c.Locale()
	for rows := 0; len(out.Events) < most && after < newest && rows < rowsOfCall; rows += rowsAtOnce {
		list, err := a.Store.Outbox().Events(ctx, c.Workspace(), after, rowsAtOnce)
		if err != nil {
			return Feed{}, err
		}
		if len(list) == 0 { // rows that cannot be read, or expired meanwhile
			after = newest
		}
		for i := range list {
			e := &list[i]
			if len(out.Events) == most {
				break
			}
			after = e.Number
			if !within.Has(e.SiteID) || in.SiteID != 0 && e.SiteID != in.SiteID || !slices.Contains(types, e.Type) {
				continue
			}
			x, err := event.Write(ctx, a.Store, e, words)
			if err != nil {
				return Feed{}, err
			}
			out.Events = append(out.Events, x)
		}
	}
	out.NextCursor, out.HasMore = a.cursors.Encode(httpapi.CursorEvents, c.Workspace(), after, 0), after < newest
	return out, nil
}

// wanted are the types that are asked for, which the caller may read.
func wanted(c *httpapi.Call, asked string) ([]rimewatch.EventType, error) {
	may := rimewatch.EventTypesFor(c.Principal.Scopes)
	if asked == "" {
		return may, nil
	}
	var list []rimewatch.EventType
	for name := range strings.SplitSeq(asked, ",") {
		k, ok := rimewatch.EventKindOf(rimewatch.EventType(strings.TrimSpace(name)))
		if !ok {
			return nil, rimewatch.Invalid("types", "%q is not a type of events", rimewatch.Shorten(name, rimewatch.MaxTypeLen))
		}
		if err := c.Principal.Require(k.Needs); err != nil {
			return nil, err
		}
		list = append(list, k.Type)
	}
	return list, nil
}

// start is the number after which events are asked for.
func (a *api) start(ctx context.Context, in *FeedInput) (int64, error) {
	w := httpapi.CallOf(ctx).Workspace()
	first, newest, err := a.Store.Outbox().EventRange(ctx, w)
	switch {
	case err != nil:
		return 0, err
	case in.After != "":
		after, err := a.position(w, in.After)
		if err != nil {
			return 0, err
		}
		if after > newest {
			return 0, rimewatch.Invalid("after", "is not a cursor of this list")
		}
		return after, checkKept(w, after, first)
	case in.Since != "":
		since, _ := rimewatch.ParseTime(in.Since) // it was checked
		return a.Store.Outbox().EventsSince(ctx, w, since)
	default:
		return first - 1, nil
	}
}

// position is the number of the event that a cursor or an id names.
func (a *api) position(workspaceID int64, after string) (int64, error) {
	if w, n, ok := rimewatch.ParseEventID(after); ok {
		if w != workspaceID || n < 1 {
			return 0, rimewatch.Invalid("after", "is not an event of this workspace")
		}
		return n, nil
	}
	n, _, e := a.cursors.Decode(httpapi.CursorEvents, workspaceID, after)
	if e != nil {
		return 0, rimewatch.Invalid("after", "is not a cursor of this list")
	}
	return n, nil
}

// checkKept is CodeCursorExpired where events after a number are kept no more.
func checkKept(workspaceID, after, first int64) error {
	if after+1 >= first {
		return nil
	}
	return rimewatch.Errorf(rimewatch.CodeCursorExpired, "Events after this one are no longer kept. The oldest is %s.", rimewatch.EventID(workspaceID, first)).
		With("after", "the oldest event is %s", rimewatch.EventID(workspaceID, first))
}

func (a *api) feedRoutes() []httpapi.Route {
	return []httpapi.Route{{
		Method: http.MethodGet, Path: "/v1/events", ID: "list-events", Tag: "Events", Summary: "List events", Sited: true,
		Access: httpapi.Scope(rimewatch.ScopeEventsRead), Also: []rimewatch.Code{rimewatch.CodeCursorExpired}, Bind: httpapi.Handle(a.listEvents),
		Description: "What happened, oldest first: what the stream's channel `events` and webhooks send. Each type also needs the scope of what it is about. Events are kept for 30 days, and at most 5 million of a workspace; 410 `cursor_expired` names the oldest.\n\n" + table(),
	}}
}

// table describes the types.
func table() string {
	var b strings.Builder
	b.WriteString("| type | needs | when |\n|---|---|---|\n")
	for _, k := range rimewatch.EventKinds() {
		b.WriteString("| `" + string(k.Type) + "` | `" + strings.Join(k.Needs.Names(), "`, `") + "` | " + k.Text + " |\n")
	}
	return b.String()
}
