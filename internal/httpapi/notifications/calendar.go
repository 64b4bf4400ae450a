package notifications

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/ticket"
)

// The span of a rota's calendar: calendars ask again within hours.
const (
	calendarBack  = 7 * rimewatch.Day
	calendarAhead = 56 * rimewatch.Day
)

// CalendarLink is where calendars read a rota.
type CalendarLink struct {
	Path string `json:"path" doc:"Below the address of the installation. Whoever has it reads who is on duty when, without signing in. Shown only here." example:"/cal/….ics"`
	Rota Rota   `json:"rota"`
}

// makeCalendar makes the link of a rota's calendar, in place of the one that it has.
func (a *api) makeCalendar(ctx context.Context, in *httpapi.IDInput) (CalendarLink, error) {
	c := httpapi.CallOf(ctx)
	r, err := a.setCalendar(ctx, in.Number(), func(last rimewatch.Time) rimewatch.Time { return max(c.Now, last+1) })
	if err != nil {
		return CalendarLink{}, err
	}
	key := ticket.Link{Purpose: ticket.Calendar, WorkspaceID: r.WorkspaceID, Expires: r.CalendarAt, ID: r.ID}
	data, err := a.showRota(ctx, &r)
	return CalendarLink{ticket.CalendarPath + key.Encode(a.LinkKey[:]) + ".ics", data.Rota}, err
}

func (a *api) endCalendar(ctx context.Context, in *httpapi.IDInput) (RotaData, error) {
	r, err := a.setCalendar(ctx, in.Number(), func(rimewatch.Time) rimewatch.Time { return 0 })
	if err != nil {
		return RotaData{}, err
	}
	return a.showRota(ctx, &r)
}

func (a *api) setCalendar(ctx context.Context, id int64, at func(last rimewatch.Time) rimewatch.Time) (rimewatch.Rota, error) {
	return a.Store.Routing().Rotas().Update(ctx, httpapi.CallOf(ctx).Workspace(), id, func(r *rimewatch.Rota) error {
		r.CalendarAt = at(r.CalendarAt)
		return nil
	})
}

// calendar answers with a rota as calendars read it (RFC 5545). The ticket in its path names the moment at
// which the link was made: once another is made, or it is withdrawn, it works no more.
func (a *api) calendar(c *httpapi.Call) error {
	ctx := c.R.Context()
	c.Header("Referrer-Policy", "no-referrer")
	l, ok := ticket.ParseLink(a.LinkKey[:], strings.TrimSuffix(c.R.PathValue("key"), ".ics"), ticket.Calendar)
	var r rimewatch.Rota
	var err error
	if ok {
		if r, err = a.Store.Routing().Rotas().Get(ctx, l.WorkspaceID, l.ID); err != nil && rimewatch.CodeOf(err) != rimewatch.CodeNotFound {
			return err
		}
	}
	if !ok || err != nil || r.CalendarAt == 0 || r.CalendarAt != l.Expires {
		if wait := a.AuthFailures.Fail(a.ClientAddr(c.R), c.Now); wait > 0 {
			return httpapi.ErrTooManyFailures(wait)
		}
		return rimewatch.Errorf(rimewatch.CodeNotFound, "This calendar link does not work: it is incomplete, or was replaced or withdrawn.")
	}
	x, err := a.rosterOf(ctx, l.WorkspaceID, c.Now)
	if err != nil {
		return err
	}
	c.Header("Content-Type", "text/calendar; charset=utf-8")
	_, _ = io.WriteString(c.W, x.iCalendar(&r))
	return nil
}

// turn is a member's unbroken time on duty.
type turn struct {
	user     int64
	from, to rimewatch.Time
}

// turns are those of a rota that touch a span of time.
func (x *roster) turns(r *rimewatch.Rota, from, to rimewatch.Time) (list []turn) {
	open := make(map[int64]int) // by user: the place in the list
	for _, d := range r.Duties(from, to, x.zone(r.SiteID), x.known) {
		for _, u := range d.Users {
			if i, on := open[u]; on && list[i].to == d.From {
				list[i].to = d.To
				continue
			}
			open[u] = len(list)
			list = append(list, turn{u, d.From, d.To})
		}
	}
	return list
}

// iCalendar writes the rota from a week ago on. A turn keeps its UID while its beginning stays.
func (x *roster) iCalendar(r *rimewatch.Rota) string {
	var b strings.Builder
	line := func(name, value string) { fold(&b, name+":"+value) }
	line("BEGIN", "VCALENDAR")
	line("VERSION", "2.0")
	line("PRODID", "-//Rimewatch//Rota//EN")
	line("CALSCALE", "GREGORIAN")
	line("METHOD", "PUBLISH")
	line("X-WR-CALNAME", escaped(r.Name))
	line("REFRESH-INTERVAL;VALUE=DURATION", "PT1H")
	// The first turns are looked for earlier, so that their beginning is theirs and not that of the calendar.
	from := x.now - calendarBack
	start := from - calendarBack
	for _, t := range x.turns(r, start, x.now+calendarAhead) {
		if t.to <= from {
			continue
		}
		began := t.from / rimewatch.Second
		if t.from == start {
			began = 0 // longer ago: it is the same one tomorrow
		}
		line("BEGIN", "VEVENT")
		line("UID", fmt.Sprintf("rota-%d-%d-%d-%d@rimewatch", r.WorkspaceID, r.ID, t.user, began))
		line("DTSTAMP", utc(r.UpdatedAt))
		line("DTSTART", utc(t.from))
		line("DTEND", utc(t.to))
		line("SUMMARY", escaped(x.names[t.user]+" – "+r.Name))
		line("TRANSP", "TRANSPARENT")
		line("END", "VEVENT")
	}
	line("END", "VCALENDAR")
	return b.String()
}

func utc(t rimewatch.Time) string { return t.Std().UTC().Format("20060102T150405Z") }

// escaped is a text as a value (RFC 5545, 3.3.11).
func escaped(s string) string {
	return strings.NewReplacer(`\`, `\\`, ";", `\;`, ",", `\,`, "\r", "", "\n", `\n`).Replace(s)
}

// fold writes a line in pieces of at most 75 bytes, cut between characters (RFC 5545, 3.1).
func fold(b *strings.Builder, s string) {
	for room := 75; len(s) > room; room = 74 {
		n := room
		for !utf8.RuneStart(s[n]) {
			n--
		}
		b.WriteString(s[:n] + "\r\n ")
		s = s[n:]
	}
	b.WriteString(s + "\r\n")
}

func (a *api) calendarRoutes() []httpapi.Route {
	admin := httpapi.Scope(rimewatch.ScopeNotifications)
	a.Plain(http.MethodGet, ticket.CalendarPath+"{key}", a.calendar)
	return []httpapi.Route{
		{
			Method: http.MethodPost, Path: "/v1/rotas/{id}/calendar", ID: "make-rota-calendar", Tag: "Notifications", Summary: "Make a calendar link", Access: admin,
			Description: fmt.Sprintf("Calendars subscribe to it (iCalendar): one event for each turn of duty, from a week ago to %d days ahead. A link that was made before stops working.", calendarAhead/rimewatch.Day),
			Bind:        httpapi.Handle(a.makeCalendar),
		},
		{
			Method: http.MethodDelete, Path: "/v1/rotas/{id}/calendar", ID: "withdraw-rota-calendar", Tag: "Notifications", Summary: "Withdraw the calendar link", Access: admin,
			Bind: httpapi.Handle(a.endCalendar),
		},
	}
}
