package v1

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// calendarEvents reads a calendar as RFC 5545 has it, and fails where it is none: lines end in CR LF and have at most
// 75 bytes, components are closed in their order, an event has what it must have.
func calendarEvents(t *testing.T, text string) (list []map[string]string) {
	t.Helper()
	if !strings.HasSuffix(text, "\r\n") {
		t.Fatal("the last line has no end")
	}
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\r\n"), "\r\n") {
		switch {
		case len(line) > 75 || strings.ContainsAny(line, "\r\n"):
			t.Errorf("a line of %d bytes: %q", len(line), line)
		case strings.HasPrefix(line, " "):
			lines[len(lines)-1] += line[1:]
		default:
			lines = append(lines, line)
		}
	}
	var within []string
	for _, line := range lines {
		name, value, found := strings.Cut(line, ":")
		name, _, _ = strings.Cut(name, ";")
		switch {
		case !found:
			t.Errorf("a line without a value: %q", line)
		case name == "BEGIN":
			if within = append(within, value); value == "VEVENT" {
				list = append(list, map[string]string{})
			}
		case name == "END":
			if len(within) == 0 || within[len(within)-1] != value {
				t.Fatalf("%s ends within %v", value, within)
			}
			within = within[:len(within)-1]
		case slices.Contains(within, "VEVENT"):
			list[len(list)-1][name] = value
		}
	}
	if len(within) > 0 || lines[0] != "BEGIN:VCALENDAR" || !slices.Contains(lines, "VERSION:2.0") || !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "PRODID:") }) {
		t.Fatalf("it is no calendar: %v", lines)
	}
	seen := make(map[string]bool)
	for _, e := range list {
		var times [3]time.Time
		for i, name := range []string{"DTSTART", "DTEND", "DTSTAMP"} {
			var err error
			if times[i], err = time.Parse("20060102T150405Z", e[name]); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if !times[0].Before(times[1]) || e["UID"] == "" || seen[e["UID"]] || e["SUMMARY"] == "" {
			t.Errorf("%v", e)
		}
		seen[e["UID"]] = true
	}
	return list
}

// TestCalendarOfARota: whoever has the link reads the turns of duty as a calendar, each with a UID that stays; it works until it is
// replaced or withdrawn, and needs no signing in.
func TestCalendarOfARota(t *testing.T) {
	r := newNotifyRig(t)
	mine := func(q request) answer { return r.do(r.browser(q)) }
	name := strings.Repeat("Nächte, ", 12) + `\;`
	made := mine(post("/v1/rotas", "", `{"name":"`+strings.ReplaceAll(name, `\`, `\\`)+`","shifts":[{"days":["fri","sun"],"from":"22:00","to":"06:00","member_id":1}]}`))
	if made.status != 201 || made.get("data.rota.calendar_since") != nil {
		t.Fatal(made.body)
	}
	link := func() string {
		t.Helper()
		a := mine(post("/v1/rotas/1/calendar", "", ""))
		if a.status != 200 || a.get("data.rota.calendar_since") == nil {
			t.Fatal(a.body)
		}
		return a.get("data.path").(string)
	}
	read := func(path string) answer { return r.do(request{method: "GET", path: path}) }
	first := link()
	a := read(first)
	if a.status != 200 || a.header.Get("Content-Type") != "text/calendar; charset=utf-8" || a.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v", a.status, a.header)
	}
	list := calendarEvents(t, a.body)
	if len(list) != 18 { // of nine weeks, from Friday noon on
		t.Fatalf("%d events", len(list))
	}
	want := map[string]string{"DTSTART": "20261113T220000Z", "DTEND": "20261114T060000Z", "SUMMARY": "Olga – " + strings.NewReplacer(`\`, `\\`, ",", `\,`, ";", `\;`).Replace(name)}
	got := map[string]string{"DTSTART": list[0]["DTSTART"], "DTEND": list[0]["DTEND"], "SUMMARY": list[0]["SUMMARY"]}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	r.advance(3 * 24 * time.Hour)
	uids := func(list []map[string]string) (all []string) {
		for _, e := range list {
			all = append(all, e["UID"]+e["DTSTART"])
		}
		return all
	}
	later := uids(calendarEvents(t, read(first).body))
	if before := uids(list); !slices.Equal(before[2:], later[:len(before)-2]) {
		t.Errorf("other events three days later:\n%s", cmp.Diff(before, later))
	}
	second := link()
	for path, status := range map[string]int{first: 404, second: 200, "/cal/AAAA.ics": 404, strings.TrimSuffix(second, ".ics"): 200} {
		if a := read(path); a.status != status {
			t.Errorf("%s: %d", path, a.status)
		}
	}
	if a := mine(remove("/v1/rotas/1/calendar", "")); a.status != 200 || a.get("data.rota.calendar_since") != nil {
		t.Error(a.body)
	}
	if a := read(second); a.status != 404 {
		t.Errorf("withdrawn: %d", a.status)
	}
	if a := r.do(post("/v1/rotas/1/calendar", r.read, "")); a.status != 403 {
		t.Errorf("a reader makes a link: %d", a.status)
	}
	mine(remove("/v1/rotas/1", ""))
	if a := read(second); a.status != 404 {
		t.Errorf("of a rota that is gone: %d", a.status)
	}
}
