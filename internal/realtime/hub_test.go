package realtime

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAtOnce(t *testing.T) {
	inBubble(t, func(g *ground) {
		p, other := g.join(1, 1), g.join(2, 2)
		p.subscribe(`"id":1,"channel":"readings"`)
		other.subscribe(`"id":1,"channel":"readings"`)
		before := time.Now()
		g.readings(7)
		if got := serials(p.take()); !slices.Equal(got, []string{"D-7"}) || time.Now() != before {
			t.Errorf("%v after %v", got, time.Since(before))
		}
		g.readings(1007)
		if got := serials(other.take()); !slices.Equal(got, []string{"D-1007"}) {
			t.Errorf("%v in the other workspace", got)
		}
		if got := p.take(); len(got) > 0 {
			t.Errorf("another workspace's %+v", got)
		}
		if m := p.say(`{"op":"unsubscribe","id":1}`); len(m) != 1 || m[0].Op != "unsubscribed" {
			t.Errorf("%+v", m)
		}
		g.readings(7)
		if got := p.take(); len(got) > 0 {
			t.Errorf("not subscribed any more: %+v", got)
		}
	})
}

func TestFilters(t *testing.T) {
	inBubble(t, func(g *ground) {
		for filter, want := range map[string][]string{
			`{}`:                                     {"D-1", "D-2", "D-3", "D-4"},
			`{"serials":["d-2","D-4","D-99"]}`:       {"D-2", "D-4"},
			`{"site_id":0}`:                          {"D-3"},
			`{"site_id":1}`:                          {"D-1", "D-4"},
			`{"equipment_type":"walkin_freezer"}`:    {"D-2", "D-4"},
			`{"site_id":1,"equipment_type":"other"}`: {"D-1"},
			`{"serials":null}`:                       {"D-1", "D-2", "D-3", "D-4"},
		} {
			p := g.join(1, 1)
			p.subscribe(`"id":1,"channel":"readings","filter":` + filter)
			g.readings(1, 2, 3, 4)
			time.Sleep(longestPause)
			if got := serials(p.take()); !slices.Equal(got, want) {
				t.Errorf("%s: %v", filter, got)
			}
		}
		for filter, want := range map[string][]int64{
			`{"severity":"critical"}`: {2}, `{"type":"high_temperature"}`: {1, 2}, `{"type":"low_temperature"}`: nil, `{"serials":["D-1"]}`: {1},
		} {
			p := g.join(1, 1)
			p.subscribe(`"id":1,"channel":"alerts","filter":` + filter)
			g.alert(1, 1, rimewatch.Warning)
			g.alert(2, 2, rimewatch.Critical)
			if got := alertIDs(p.take()); !slices.Equal(got, want) {
				t.Errorf("%s: %v", filter, got)
			}
		}
		// An event that two subscriptions match comes once.
		p := g.join(1, 1)
		p.subscribe(`"id":1,"channel":"readings","filter":{"serials":["D-1","D-2"]}`)
		p.subscribe(`"id":2,"channel":"readings","filter":{"serials":["D-2","D-3"]}`)
		g.readings(1, 2, 3)
		time.Sleep(longestPause)
		if got := serials(p.take()); !slices.Equal(got, []string{"D-1", "D-2", "D-3"}) {
			t.Errorf("two subscriptions: %v", got)
		}
	})
}

// TestCrowd: a thousand subscribers of a workspace with ten thousand readings a
// second hear of it at least twice a second, of the newest of every device.
func TestCrowd(t *testing.T) {
	inBubble(t, func(g *ground) {
		all := make([]*peer, 1000)
		for i := range all {
			all[i] = g.join(1, 1)
			all[i].subscribe(`"id":1,"channel":"readings"`)
		}
		p := all[500]
		published, newest := 0, make(map[string]rimewatch.Time)
		came, last := 0, time.Now()
		for range 2000 {
			var ids []int64
			for range 10 {
				id := int64(published%20) + 1
				ids = append(ids, id)
				newest[fmt.Sprint("D-", id)] = rimewatch.TimeOf(time.Now())
				published++
			}
			g.readings(ids...)
			time.Sleep(time.Millisecond)
			if got := p.take(); len(got) > 0 {
				if gap := time.Since(last); gap > 500*time.Millisecond {
					t.Fatalf("nothing for %v", gap)
				}
				last = time.Now()
				came += len(got)
			}
		}
		time.Sleep(longestPause)
		state := make(map[string]rimewatch.Time)
		for _, p := range all[:3] {
			for _, m := range p.take() {
				state[m.Data.Reading.Serial] = m.Data.Reading.At
			}
		}
		if fmt.Sprint(state) != fmt.Sprint(newest) {
			t.Errorf("the newest are %v, came %v", newest, state)
		}
		if came > published/10 {
			t.Errorf("%d of %d were sent one by one", came, published)
		}
	})
}

// TestSlowPeer: who takes nothing gets the newest reading of each device later,
// and every alert; others do not notice.
func TestSlowPeer(t *testing.T) {
	inBubble(t, func(g *ground) {
		slow, quick := g.join(1, 1), g.join(2, 1)
		for _, p := range []*peer{slow, quick} {
			p.subscribe(`"id":1,"channel":"readings"`)
			p.subscribe(`"id":2,"channel":"alerts"`)
		}
		slow.hold()
		var want []int64
		for i := range int64(20_000) {
			g.readings(i%10 + 1)
			if i%100 == 0 {
				g.alert(i+1, 1, rimewatch.Warning)
				want = append(want, i+1)
			}
			if i%50 == 0 {
				time.Sleep(time.Millisecond)
				synctest.Wait()
			}
		}
		time.Sleep(time.Second)
		mine, theirs := quick.take(), slow.take()
		if got := alertIDs(mine); !slices.Equal(got, want) {
			t.Errorf("the quick one got %d alerts", len(got))
		}
		if len(theirs) > 0 {
			t.Fatal("a held peer takes nothing")
		}
		slow.free()
		theirs = slow.take()
		if got := alertIDs(theirs); !slices.Equal(got, want) {
			t.Errorf("the slow one got %d alerts of %d", len(got), len(want))
		}
		if len(theirs) > 10_000 {
			t.Errorf("the slow one got %d messages", len(theirs))
		}
		last := func(all []said) map[string]rimewatch.Time {
			state := make(map[string]rimewatch.Time)
			for _, m := range all {
				if m.Channel == "readings" {
					state[m.Data.Reading.Serial] = m.Data.Reading.At
				}
			}
			return state
		}
		if a, b := last(mine), last(theirs); len(a) != 10 || fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("the quick one ends with %v, the slow one with %v", a, b)
		}
		for i := 1; i < len(theirs); i++ {
			x, _ := parseID(theirs[i-1].ID.(string))
			y, _ := parseID(theirs[i].ID.(string))
			if x.seq >= y.seq {
				t.Fatalf("%v came before %v", theirs[i-1].ID, theirs[i].ID)
			}
		}
	})
}

func TestFullBuffer(t *testing.T) {
	inBubble(t, func(g *ground) {
		p := g.join(1, 1)
		p.subscribe(`"id":1,"channel":"alerts"`)
		p.hold()
		for i := range int64(maxWaitingEvents + compactFrom*8) {
			g.alert(i+1, 1, rimewatch.Warning)
			if i%1000 == 0 {
				synctest.Wait()
			}
		}
		if code := p.code(); code != 4408 {
			t.Errorf("closed with %d", code)
		}
		if n := g.Subscribers(); n != 0 {
			t.Errorf("%d are still subscribed", n)
		}
	})
}

func TestResuming(t *testing.T) {
	inBubble(t, func(g *ground) {
		p := g.join(1, 1)
		begin, _ := p.subscribe(`"id":1,"channel":"readings"`)
		p.subscribe(`"id":2,"channel":"alerts"`)
		for i := range int64(300) {
			g.readings(i%7 + 1)
			g.alert(i+1, 1, rimewatch.Warning)
			time.Sleep(time.Millisecond)
		}
		seen := p.take()
		at := func(channel string, n int) (id string, rest []said) {
			for i, m := range seen {
				if m.Channel == channel {
					if n--; n == 0 {
						id = m.ID.(string)
						for _, later := range seen[i+1:] {
							if later.Channel == channel {
								rest = append(rest, later)
							}
						}
					}
				}
			}
			return id, rest
		}
		p.Abort()
		p = g.join(1, 1)
		for _, n := range []int{1, 150, 299, 300} {
			id, want := at("readings", n)
			q := g.join(1, 1)
			ok, got := q.subscribe(fmt.Sprintf(`"id":1,"channel":"readings","since":%q`, id))
			if !ok.Recovered || ok.Last != id || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("readings since %d: %+v and %d, want %d", n, ok, len(got), len(want))
			}
			id, want = at("alerts", n)
			ok, got = q.subscribe(fmt.Sprintf(`"id":2,"channel":"alerts","since":%q`, id))
			if !ok.Recovered || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("alerts since %d: %+v and %d, want %d", n, ok, len(got), len(want))
			}
		}
		_, got := p.subscribe(fmt.Sprintf(`"id":1,"channel":"readings","filter":{"serials":["D-3"]},"since":%q`, begin.Last))
		if len(got) != 43 {
			t.Errorf("%d readings of one device", len(got))
		}
		for i, since := range []string{"", "nonsense", "-", "x-1", begin.Last + "zzzzz", "zzzzzzzzzz-1"} {
			if ok, got := p.subscribe(fmt.Sprintf(`"id":%d,"channel":"alerts","since":%q`, 10+i, since)); ok.Recovered || len(got) > 0 {
				t.Errorf("since %q: %+v and %d", since, ok, len(got))
			}
		}
	})
}

// TestComingBackLate: after more readings than are kept one by one the newest
// of each device comes, and after ten minutes nothing is promised.
func TestComingBackLate(t *testing.T) {
	inBubble(t, func(g *ground) {
		p := g.join(1, 1)
		begin, _ := p.subscribe(`"id":1,"channel":"readings"`)
		for i := range int64(keptReadings + 5000) {
			g.readings(i%50 + 1)
			if i%20 == 0 {
				time.Sleep(time.Millisecond)
				synctest.Wait()
			}
		}
		time.Sleep(time.Second)
		last := p.take()
		quiet, _ := p.subscribe(`"id":2,"channel":"alerts"`)
		ok, got := g.join(1, 1).subscribe(fmt.Sprintf(`"id":1,"channel":"readings","since":%q`, begin.Last))
		if !ok.Recovered || len(got) != 50 {
			t.Errorf("%+v and %d readings of 50 devices", ok, len(got))
		}
		newest := make(map[string]rimewatch.Time)
		for _, m := range last {
			newest[m.Data.Reading.Serial] = m.Data.Reading.At
		}
		for _, m := range got {
			if m.Data.Reading.At != newest[m.Data.Reading.Serial] {
				t.Errorf("%s: %v is not the newest", m.Data.Reading.Serial, m.Data.Reading.At)
			}
		}
		p.s.heard.Store(true)
		for range 33 {
			time.Sleep(20 * time.Second)
			p.s.heard.Store(true)
		}
		if ok, _ := g.join(1, 1).subscribe(fmt.Sprintf(`"id":1,"channel":"readings","since":%q`, begin.Last)); ok.Recovered {
			t.Error("readings are recovered after eleven minutes")
		}
		if ok, _ := g.join(1, 1).subscribe(fmt.Sprintf(`"id":1,"channel":"alerts","since":%q`, quiet.Last)); !ok.Recovered {
			t.Error("nothing happened among the alerts: nothing was missed")
		}
		// Ten minutes after the last has left, the room is given up.
		for _, p := range g.all {
			p.Abort()
		}
		time.Sleep(9 * time.Minute)
		if g.live.Load() != 1 {
			t.Error("the room was given up too early")
		}
		g.alert(1, 1, rimewatch.Warning)
		time.Sleep(2 * time.Minute)
		if g.live.Load() != 0 {
			t.Error("the room was not given up")
		}
		if ok, _ := g.join(1, 1).subscribe(fmt.Sprintf(`"id":1,"channel":"alerts","since":%q`, quiet.Last)); ok.Recovered {
			t.Error("the new room knows nothing of the old one")
		}
	})
}

func TestPings(t *testing.T) {
	inBubble(t, func(g *ground) {
		silent, lively := g.join(1, 1), g.join(2, 1)
		began := time.Now()
		for range 74 {
			time.Sleep(time.Second)
			lively.s.heard.Store(true)
		}
		if code := silent.code(); code != -1 {
			t.Fatalf("closed with %d after %v", code, time.Since(began))
		}
		for range 4 {
			time.Sleep(time.Second)
			lively.s.heard.Store(true)
		}
		if silent.code() == -1 {
			t.Error("who leaves two pings unanswered stays")
		}
		if lively.code() != -1 {
			t.Error("who answers is closed")
		}
		lively.mu.Lock()
		defer lively.mu.Unlock()
		if n := len(lively.raw) / len(pingFrame); n != 3 {
			t.Errorf("%d pings in %v", n, time.Since(began))
		}
	})
}

func TestEndOfRights(t *testing.T) {
	inBubble(t, func(g *ground) {
		revoked, elsewhere, demoted, stays := g.join(1, 1), g.join(2, 1), g.join(3, 1), g.join(4, 1)
		unasked := g.join(5, 1)
		g.Revoke(1)
		if code := revoked.code(); code != 4401 {
			t.Errorf("revoked here: %d", code)
		}
		g.mu.Lock()
		g.invalid[2] = rimewatch.Errorf(rimewatch.CodeUnauthenticated, "x")
		g.invalid[3] = rimewatch.Errorf(rimewatch.CodeForbidden, "x")
		g.invalid[5] = errors.New("the disk is full")
		g.mu.Unlock()
		time.Sleep(time.Second)
		for p, want := range map[*peer]int{elsewhere: 4401, demoted: 4403, stays: -1, unasked: -1} {
			if code := p.code(); code != want {
				t.Errorf("token %d: %d, want %d", p.s.principal.TokenID, code, want)
			}
		}
	})
}

// ended is a connection whose close frame has just gone.
type ended struct{ *peer }

func (ended) Write([]byte) error { return errEnded }

// TestWritingBehindTheCloseFrame: a writer that comes too late does not cut the
// connection while the peer has yet to answer the close frame.
func TestWritingBehindTheCloseFrame(t *testing.T) {
	inBubble(t, func(g *ground) {
		p := g.join(1, 1)
		p.subscribe(`"id":1,"channel":"alerts"`)
		p.s.conn = ended{p}
		g.alert(1, 1, rimewatch.Warning)
		if code := p.code(); code != -1 {
			t.Errorf("cut, with %d", code)
		}
		p.s.shut(closeForbidden)
		if code := p.code(); code != closeForbidden.code {
			t.Errorf("closed with %d", code)
		}
	})
}

func TestStopping(t *testing.T) {
	inBubble(t, func(g *ground) {
		p := g.join(1, 1)
		g.stop()
		if code := p.code(); code != 1012 {
			t.Errorf("closed with %d", code)
		}
		if _, ok := g.attach(&peer{}, account.Principal{}); ok {
			t.Error("a stopped hub takes sockets")
		}
		if err := g.admit(&account.Principal{}, netip.Addr{}); rimewatch.CodeOf(err) != rimewatch.CodeUnavailable {
			t.Errorf("a stopped hub admits: %v", err)
		}
	})
}

func TestPlaces(t *testing.T) {
	h := New(Config{Sockets: 3})
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	one, person := account.Principal{TokenID: 1}, account.Principal{UserID: 1, SessionID: 1, Session: true}
	for range 3 {
		for _, p := range []*account.Principal{&one, &person} {
			if err := h.admit(p, a); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, p := range []*account.Principal{&one, &person} {
		if err := h.admit(p, b); rimewatch.CodeOf(err) != rimewatch.CodeRateLimited {
			t.Errorf("a fourth one: %v", err)
		}
	}
	h.leave(&one, a)
	if err := h.admit(&one, b); err != nil {
		t.Error(err)
	}
	for i := range int64(25) {
		if err := h.admit(&account.Principal{TokenID: 10 + i}, a); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.admit(&account.Principal{TokenID: 99}, a); rimewatch.CodeOf(err) != rimewatch.CodeRateLimited {
		t.Errorf("a 31st of one address: %v", err)
	}
	if err := h.admit(&account.Principal{TokenID: 99}, b); err != nil {
		t.Error(err)
	}
}

func TestSummary(t *testing.T) {
	inBubble(t, func(g *ground) {
		p := g.join(1, 1)
		g.summary.TotalDevices = 5
		p.subscribe(`"id":1,"channel":"summary"`)
		time.Sleep(2 * time.Second)
		if got := p.take(); len(got) != 1 || got[0].Event != "summary.updated" {
			t.Fatalf("%+v", got)
		}
		time.Sleep(10 * time.Second)
		if got := p.take(); len(got) != 0 {
			t.Errorf("nothing changed, but %+v", got)
		}
		for i := range 100 {
			g.mu.Lock()
			g.summary.OnlineDevices = i
			g.mu.Unlock()
			time.Sleep(100 * time.Millisecond)
		}
		if got := p.take(); len(got) < 9 || len(got) > 11 {
			t.Errorf("%d in ten seconds", len(got))
		}
	})
}
