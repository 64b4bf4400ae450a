package notify_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
)

// mailed makes a channel for e-mail.
func (r *rig) mailed(name string) rimewatch.Channel {
	r.Helper()
	return r.channel(name, func(c *rimewatch.Channel) {
		c.Kind, c.URL, c.Secret, c.To = rimewatch.ChannelEmail, "", "", []string{name + "@example.com"}
	})
}

// scheduled makes a scheduled report of a site in Berlin, or of all sites (zone "").
func (r *rig) scheduled(period rimewatch.ReportPeriod, zone string, channels ...rimewatch.Channel) rimewatch.ReportSchedule {
	r.Helper()
	s := rimewatch.ReportSchedule{WorkspaceID: r.workspace, Period: period, Enabled: true, CreatedAt: r.now(), UpdatedAt: r.now()}
	for i := range channels {
		s.ChannelIDs = append(s.ChannelIDs, channels[i].ID)
	}
	at := "Europe/Berlin" // the workspace's
	if zone != "" {
		site := rimewatch.Site{WorkspaceID: r.workspace, Name: "Main Street", TimeZone: zone, CreatedAt: r.now(), UpdatedAt: r.now()}
		r.must(r.store.Sites().Create(r.Context(), &site))
		s.SiteID, at = site.ID, zone
	}
	place, err := time.LoadLocation(at)
	r.must(err)
	_, s.Through = period.Last(r.now(), place)
	r.must(r.store.Routing().ReportSchedules().Create(r.Context(), &s))
	return s
}

// until lets time pass until a moment.
func (r *rig) until(moment string) {
	r.Helper()
	at, err := time.Parse(time.RFC3339, moment)
	r.must(err)
	r.pass(time.Until(at))
}

// skip lets time pass while the server is down, until five minutes before a moment,
// and then until the moment.
func (r *rig) skip(moment string) {
	r.Helper()
	at, err := time.Parse(time.RFC3339, moment)
	r.must(err)
	r.service.Stop()
	r.pass(time.Until(at) - 5*time.Minute)
	r.restart()
	r.until(moment)
}

func (r *rig) said(want string) {
	r.Helper()
	if got := r.posts.said(); got != want {
		r.Errorf("%s: sent %q, want %q", time.Now().UTC().Format(time.RFC3339), got, want)
	}
}

// stamp is what posts says at a moment of a report over a span.
func (r *rig) stamp(moment, channel, from, to string) string {
	r.Helper()
	at, err := time.Parse(time.RFC3339, moment)
	r.must(err)
	return span(at.Sub(r.began)) + " " + channel + " report.scheduled " + from + "/" + to
}

// reported is a Reporter whose file says what it is about.
func reported(_ context.Context, _ int64, _ rimewatch.Locale, x *message.Report) (*message.File, error) {
	form := func(t rimewatch.Time) string { return t.Std().UTC().Format(time.RFC3339) }
	return &message.File{Name: form(x.From) + "/" + form(x.To)}, nil
}

// Bubbles begin on Saturday, 1 January 2000, at midnight UTC.
func TestScheduledReports(t *testing.T) {
	t.Parallel()
	bubble(t, func(r *rig) {
		r.reporter = reported
		r.restart()
		shop, boss := r.mailed("shop"), r.mailed("boss")
		r.scheduled(rimewatch.ReportWeekly, "America/Los_Angeles", shop)
		monthly := r.scheduled(rimewatch.ReportMonthly, "", boss, shop)
		// It is one in the morning of the first in Berlin, and the month is told of at six;
		// by hand it is told of at once.
		_, err := r.service.SendReport(r.Context(), r.workspace, monthly.ID)
		r.must(err)
		r.pass(time.Minute)
		if got := r.posts.said(); strings.Count(got, " report.scheduled 1999-11-30T23:00:00Z/1999-12-31T23:00:00Z") != 2 {
			t.Errorf("sent by hand: %q", got)
		}
		r.skip("2000-01-01T05:00:00Z")
		r.said(strings.Join([]string{
			r.stamp("2000-01-01T05:00:00Z", "boss", "1999-11-30T23:00:00Z", "1999-12-31T23:00:00Z"),
			r.stamp("2000-01-01T05:00:00Z", "shop", "1999-11-30T23:00:00Z", "1999-12-31T23:00:00Z"),
		}, "|"))
		r.skip("2000-01-03T13:59:00Z")
		r.said("")
		r.pass(time.Minute)
		r.said(r.stamp("2000-01-03T14:00:00Z", "shop", "1999-12-27T08:00:00Z", "2000-01-03T08:00:00Z"))
		r.restart()
		r.skip("2000-01-10T14:00:00Z")
		r.said(r.stamp("2000-01-10T14:00:00Z", "shop", "2000-01-03T08:00:00Z", "2000-01-10T08:00:00Z"))
		// The server is down when reports are due: the last one is sent, once.
		r.skip("2000-02-02T09:05:00Z")
		r.said(strings.Join([]string{
			r.stamp("2000-02-02T09:00:00Z", "boss", "1999-12-31T23:00:00Z", "2000-01-31T23:00:00Z"),
			r.stamp("2000-02-02T09:00:00Z", "shop", "1999-12-31T23:00:00Z", "2000-01-31T23:00:00Z"),
			r.stamp("2000-02-02T09:00:00Z", "shop", "2000-01-24T08:00:00Z", "2000-01-31T08:00:00Z"),
		}, "|"))
		// Clocks change on 26 March in Berlin, and on 2 April in Los Angeles.
		r.skip("2000-03-27T14:00:00Z")
		r.posts.said()
		r.skip("2000-04-01T04:00:00Z")
		r.said(strings.Join([]string{
			r.stamp("2000-04-01T04:00:00Z", "boss", "2000-02-29T23:00:00Z", "2000-03-31T22:00:00Z"),
			r.stamp("2000-04-01T04:00:00Z", "shop", "2000-02-29T23:00:00Z", "2000-03-31T22:00:00Z"),
		}, "|"))
		r.skip("2000-04-03T13:00:00Z")
		r.said(r.stamp("2000-04-03T13:00:00Z", "shop", "2000-03-27T08:00:00Z", "2000-04-03T07:00:00Z"))
	})
}

// A crash after the deliveries were stored and before that was noted sends nothing
// twice; a clock that was wrong for a while keeps nothing from being sent.
func TestReportsOnce(t *testing.T) {
	t.Parallel()
	bubble(t, func(r *rig) {
		r.reporter = reported
		r.restart()
		s := r.scheduled(rimewatch.ReportWeekly, "UTC", r.mailed("shop"))
		r.skip("2000-01-03T06:00:00Z")
		first := r.stamp("2000-01-03T06:00:00Z", "shop", "1999-12-27T00:00:00Z", "2000-01-03T00:00:00Z")
		r.said(first)
		r.must(r.store.Routing().ReportsThrough(r.Context(), r.workspace, s.ID, s.Through))
		r.restart()
		r.pass(time.Minute)
		r.said("")
		if got, err := r.store.Routing().ReportSchedules().Get(r.Context(), r.workspace, s.ID); err != nil || got.Through.String() != "2000-01-03T00:00:00.000Z" {
			t.Errorf("planned through %s (%v)", got.Through, err)
		}
		r.must(r.store.Routing().ReportsThrough(r.Context(), r.workspace, s.ID, r.now().Add(1000*time.Hour)))
		r.skip("2000-01-10T06:00:00Z")
		r.said(r.stamp("2000-01-10T06:00:00Z", "shop", "2000-01-03T00:00:00Z", "2000-01-10T00:00:00Z"))
	})
}

// Reports in the making keep no alert of the same channel waiting, are made anew for
// every attempt, and given up when they can never be made.
func TestReportsInTheMaking(t *testing.T) {
	t.Parallel()
	bubble(t, func(r *rig) {
		made := 0
		r.reporter = func(ctx context.Context, id int64, l rimewatch.Locale, x *message.Report) (*message.File, error) {
			select {
			case <-time.After(10 * time.Minute):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			if made++; made == 1 {
				return nil, errors.New("the disk hiccuped")
			}
			if x.Period == rimewatch.ReportMonthly {
				return nil, rimewatch.Invalid("site_id", "a log has at most 1 device")
			}
			return reported(ctx, id, l, x)
		}
		r.restart()
		shop := r.mailed("shop")
		weekly := r.scheduled(rimewatch.ReportWeekly, "UTC", shop)
		monthly := r.scheduled(rimewatch.ReportMonthly, "UTC", shop)
		if _, err := r.service.SendReport(r.Context(), r.workspace, weekly.ID); err != nil {
			t.Fatal(err)
		}
		r.pass(time.Minute)
		r.alert(rimewatch.HighTemperature, rimewatch.Critical)
		r.pass(time.Second)
		r.said("1m0s shop alert.opened")
		r.pass(20*time.Minute + 5*time.Second)
		if got := r.posts.said(); !strings.HasSuffix(got, "shop report.scheduled 1999-12-20T00:00:00Z/1999-12-27T00:00:00Z") || strings.Contains(got, "|") {
			t.Errorf("sent %q", got)
		}
		// A stop in the middle breaks it off; it is made after the next start.
		list, err := r.service.SendReport(r.Context(), r.workspace, weekly.ID)
		if err != nil || len(list) != 1 || list[0].Kind != rimewatch.DeliveryReport || list[0].Status != rimewatch.DeliveryPending {
			t.Fatalf("%+v, %v", list, err)
		}
		r.pass(5 * time.Minute)
		r.restart()
		r.pass(11 * time.Minute)
		if got := r.posts.said(); strings.Count(got, "report.scheduled") != 1 {
			t.Errorf("sent %q", got)
		}
		if _, err := r.service.SendReport(r.Context(), r.workspace, monthly.ID); err != nil {
			t.Fatal(err)
		}
		r.pass(11 * time.Minute)
		r.said("")
		if got := strings.Join(r.deliveries(), ", "); got != "report shop sent 2, opened shop sent 1, report shop sent 1, report shop failed 1" {
			t.Error(got)
		}
		if _, err := r.service.SendReport(r.Context(), r.workspace, 99); rimewatch.CodeOf(err) != rimewatch.CodeNotFound {
			t.Error(err)
		}
		_, err = r.store.Routing().Channels().Update(r.Context(), r.workspace, shop.ID, func(c *rimewatch.Channel) error { c.Enabled = false; return nil })
		r.must(err)
		if _, err := r.service.SendReport(r.Context(), r.workspace, weekly.ID); rimewatch.CodeOf(err) != rimewatch.CodeConflict {
			t.Error(err)
		}
	})
}

// What is too large for a mail is told of instead.
func TestReportTooLarge(t *testing.T) {
	c := message.Context{Key: "report/1", Locale: rimewatch.Locale{Language: "es"}, Workspace: message.Ref{ID: 1, Name: "Tienda"}, PublicURL: "https://watch.example.org"}
	m := c.Report(&message.Report{Period: rimewatch.ReportMonthly, From: rimewatch.Day, To: 32 * rimewatch.Day, TimeZone: "UTC"})
	m.Attach(&message.File{Name: "x.pdf", Bytes: make([]byte, message.MaxFileBytes+1)})
	if m.File != nil || !strings.Contains(m.Data.Text, "7 MB") || m.Data.Subject != "Registro de temperaturas: Tienda, del 2 ene 1970 al 1 feb 1970" { //nolint:misspell // Spanish
		t.Errorf("%v: %q, %q", m.File, m.Data.Subject, m.Data.Text)
	}
	if got := m.Patience(3); got != 0 {
		t.Errorf("%s for nothing", got)
	}
	m.Attach(&message.File{Bytes: make([]byte, 1<<20)})
	if got := m.Patience(2); m.File == nil || got < time.Minute {
		t.Errorf("%s for 2 × 1 MB", got)
	}
}
