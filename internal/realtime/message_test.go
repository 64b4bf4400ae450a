package realtime

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/publish"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/trial"
)

func TestMessages(t *testing.T) {
	inBubble(t, func(g *ground) {
		p := g.joinAs(account.Principal{WorkspaceID: 1, TokenID: 1, Scopes: rimewatch.ScopeReadingsRead})
		p.subscribe(`"id":1,"channel":"readings"`)
		long := strings.Repeat("x", 300)
		for _, c := range []struct {
			text, code string
			id         any
			fields     []string
		}{
			{`{`, "invalid_json", nil, nil},
			{``, "invalid_json", nil, nil},
			{`[]`, "invalid_json", nil, nil},
			{`null`, "invalid_json", nil, nil},
			{`{"op":"subscribe","op":"subscribe"}`, "invalid_json", nil, nil},
			{"{\"op\":\"\xff\"}", "invalid_json", nil, nil},
			{`{}`, "validation_failed", nil, []string{"id", "op"}},
			{`{"id":7}`, "validation_failed", 7.0, []string{"op"}},
			{`{"op":"publish","id":7}`, "validation_failed", 7.0, []string{"op"}},
			{`{"op":"subscribe","id":"7","channel":"alerts"}`, "validation_failed", nil, []string{"id"}},
			{`{"op":"subscribe","id":-1,"channel":"alerts"}`, "validation_failed", nil, []string{"id"}},
			{`{"op":"subscribe","id":1.5,"channel":"alerts"}`, "validation_failed", nil, []string{"id"}},
			{`{"op":"subscribe","id":9007199254740992,"channel":"alerts"}`, "validation_failed", nil, []string{"id"}},
			{`{"op":"subscribe","id":7}`, "validation_failed", 7.0, []string{"channel"}},
			{`{"op":"subscribe","id":7,"channel":"weather"}`, "validation_failed", 7.0, []string{"channel"}},
			{`{"op":"subscribe","id":7,"Channel":"readings"}`, "validation_failed", 7.0, []string{"Channel", "channel"}},
			{`{"op":"subscribe","id":7,"channel":"readings","workspace":2}`, "validation_failed", 7.0, []string{"workspace"}},
			{`{"op":"subscribe","id":7,"channel":"readings","` + long + `":2}`, "validation_failed", 7.0, []string{"…"}},
			{`{"op":"subscribe","id":7,"channel":"readings","since":5}`, "validation_failed", 7.0, []string{"since"}},
			{`{"op":"subscribe","id":7,"channel":"readings","filter":[]}`, "validation_failed", 7.0, []string{"filter"}},
			{`{"op":"subscribe","id":7,"channel":"readings","filter":{"severity":"warning"}}`, "validation_failed", 7.0, []string{"filter.severity"}},
			{`{"op":"subscribe","id":7,"channel":"readings","filter":{"serials":[]}}`, "validation_failed", 7.0, []string{"filter.serials"}},
			{`{"op":"subscribe","id":7,"channel":"readings","filter":{"serials":"D-1"}}`, "validation_failed", 7.0, []string{"filter.serials"}},
			{`{"op":"subscribe","id":7,"channel":"readings","filter":{"serials":["a","b c"]}}`, "validation_failed", 7.0, []string{"filter.serials[1]"}},
			{`{"op":"subscribe","id":7,"channel":"readings","filter":{"site_id":"1","equipment_type":""}}`, "validation_failed", 7.0, []string{"filter.equipment_type", "filter.site_id"}},
			{`{"op":"subscribe","id":7,"channel":"alerts","filter":{"severity":"bad","type":7}}`, "validation_failed", 7.0, []string{"filter.severity", "filter.type"}},
			{`{"op":"subscribe","id":7,"channel":"summary","filter":{"site_id":1}}`, "validation_failed", 7.0, []string{"filter.site_id"}},
			{`{"op":"subscribe","id":7,"channel":"alerts"}`, "forbidden", 7.0, []string{"scope"}},
			{`{"op":"subscribe","id":7,"channel":"devices"}`, "forbidden", 7.0, []string{"scope"}},
			{`{"op":"subscribe","id":7,"channel":"summary"}`, "forbidden", 7.0, []string{"scope"}},
			{`{"op":"subscribe","id":1,"channel":"readings"}`, "conflict", 1.0, nil},
			{`{"op":"unsubscribe","id":2}`, "not_found", 2.0, nil},
			{`{"op":"unsubscribe"}`, "validation_failed", nil, []string{"id"}},
			{`{"op":"unsubscribe","id":1,"channel":"readings"}`, "validation_failed", 1.0, []string{"channel"}},
		} {
			time.Sleep(time.Second)
			got := p.say(c.text)
			if len(got) != 1 || got[0].Op != "error" {
				t.Errorf("%s: %+v", c.text, got)
				continue
			}
			fields := slices.Sorted(maps.Keys(got[0].Error.Fields))
			if got[0].Error.Code != c.code || got[0].ID != c.id || !slices.Equal(fields, c.fields) {
				t.Errorf("%s: %+v", c.text, got[0])
			}
		}
	})
}

// TestErrorsInTheListenersLanguage: also what is made of facts.
func TestErrorsInTheListenersLanguage(t *testing.T) {
	inBubble(t, func(g *ground) {
		p := g.joinAs(account.Principal{WorkspaceID: 1, TokenID: 1, Scopes: rimewatch.ScopesRead, Locale: rimewatch.Locale{Language: "es"}})
		for i := range maxSubscriptions {
			p.subscribe(fmt.Sprintf(`"id":%d,"channel":"readings"`, i))
		}
		got := p.say(`{"op":"subscribe","id":99,"channel":"readings"}`)
		if want := fmt.Sprintf("como máximo %d", maxSubscriptions); len(got) != 1 || !strings.Contains(got[0].Error.Message, want) {
			t.Errorf("%+v, want %q in it", got, want)
		}
	})
}

func TestTooMuch(t *testing.T) {
	inBubble(t, func(g *ground) {
		p := g.join(1, 1)
		for i := range maxSubscriptions {
			p.subscribe(fmt.Sprintf(`"id":%d,"channel":"readings"`, i))
		}
		if got := p.say(`{"op":"subscribe","id":99,"channel":"readings"}`); len(got) != 1 || got[0].Error.Code != "rate_limited" {
			t.Errorf("%+v", got)
		}
		for range 30 * messagesPerSecond {
			time.Sleep(time.Second / messagesPerSecond)
			p.s.receive([]byte(`{}`), time.Now())
		}
		if code := p.code(); code != -1 {
			t.Errorf("ten a second: closed with %d", code)
		}
		for range 2 * messagesBurst {
			p.s.receive([]byte(`{}`), time.Now())
		}
		if code := p.code(); code != 4429 {
			t.Errorf("closed with %d", code)
		}
	})
}

// TestFrames holds the heads of frames against RFC 6455.
func TestFrames(t *testing.T) {
	for _, n := range []int{0, 1, 125, 126, 127, 65535, 65536, 100_000} {
		before := []byte("before")
		payload := bytes.Repeat([]byte("p"), n)
		b := endFrame(append(beginFrame(before), payload...), len(before))
		frame := b[len("before"):]
		if frame[0] != 0x81 {
			t.Errorf("%d: %x", n, frame[0])
		}
		got, rest := int(frame[1]), frame[2:]
		switch got {
		case 126:
			got, rest = int(binary.BigEndian.Uint16(rest)), rest[2:]
			if n < 126 {
				t.Errorf("%d has too long a head", n)
			}
		case 127:
			got, rest = int(binary.BigEndian.Uint64(rest)), rest[8:]
			if n < 65536 {
				t.Errorf("%d has too long a head", n)
			}
		}
		if got != n || !bytes.Equal(rest, payload) || !bytes.HasPrefix(b, before) {
			t.Errorf("%d: a frame of %d with %d bytes", n, got, len(rest))
		}
	}
}

// happening is an event in the model of TestPast.
type happening struct {
	seq    uint64
	c      channel
	device int64
	at     rimewatch.Time
	value  rimewatch.Time // when a reading was measured
}

// missedNewest returns the newest of each device, where it was missed.
func missedNewest(newest map[int64]happening, after uint64) (want []uint64) {
	for _, h := range newest {
		if h.seq > after {
			want = append(want, h.seq)
		}
	}
	slices.Sort(want)
	return want
}

// TestPast lets anything happen in a room, and time pass, and asks for what was
// missed since any moment: when it is recovered, it is all of it.
func TestPast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPast("e")
		var all []happening
		now := rimewatch.Time(1_000_000)
		sub := [...]*subscription{devices: {channel: devices}, readings: {channel: readings}, alerts: {channel: alerts}, summary: {channel: summary}}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0, 1: // readings
				list := make([]reading, rapid.SampledFrom([]int{1, 3, 5000}).Draw(t, "readings"))
				for i := range list {
					d := int64(i%7 + 1)
					list[i] = reading{seq: p.next(readings), at: now, device: &store.Identity{ID: d}, value: rimewatch.Reading{At: now + rimewatch.Time(i)}}
					all = append(all, happening{list[i].seq, readings, d, now, list[i].value.At})
				}
				p.keepReadings(list)
			case 2, 3:
				c := rapid.SampledFrom([]channel{devices, alerts}).Draw(t, "channel")
				e := &event{seq: p.next(c), at: now, channel: c}
				p.keep(e)
				all = append(all, happening{e.seq, c, 0, now, 0})
			case 4:
				c := rapid.SampledFrom([]channel{devices, readings, alerts}).Draw(t, "skipped")
				p.skip(c)
				all = append(all, happening{p.seq, c, -1, now, 0})
			case 5:
				for range rapid.SampledFrom([]int{1, 100, 700}).Draw(t, "seconds") {
					now += rimewatch.Second
					p.forget(now - replayWindow)
				}
			}
		}
		after := uint64(rapid.IntRange(0, int(p.seq)+1).Draw(t, "since"))
		for _, c := range []channel{devices, readings, alerts} {
			var want []uint64
			newest := make(map[int64]happening) // of each device, since ever
			lost, old := false, false
			for _, h := range all {
				if h.c == c && h.device >= 0 && h.value >= newest[h.device].value {
					newest[h.device] = h
				}
				if h.c == c && h.seq > after {
					want = append(want, h.seq)
					lost = lost || h.device < 0
					old = old || h.at < now-replayWindow-markEvery-rimewatch.Second
				}
			}
			if !p.covers(position{"e", after}, c) {
				if !lost && after <= p.seq && len(want) > 0 && !slices.ContainsFunc(all, func(h happening) bool {
					return h.c == c && h.seq > after && h.at < now-replayWindow+markEvery+rimewatch.Second
				}) {
					t.Fatalf("%s after %d is given up without need", channelNames[c], after)
				}
				continue
			}
			if lost || old {
				t.Fatalf("%s after %d is promised, lost %v, old %v", channelNames[c], after, lost, old)
			}
			var got []uint64
			for _, it := range p.since(after, sub[c], nil) {
				got = append(got, it.seq)
			}
			if c == readings && len(got) < len(want) {
				want = missedNewest(newest, after)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s after %d: %d came, want %d", channelNames[c], after, len(got), len(want))
			}
		}
	})
}

func TestIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		epoch := rapid.StringMatching(`[a-z2-7]{10}`).Draw(t, "epoch")
		seq := rapid.Uint64Max(1<<63-1).Draw(t, "seq")
		p, ok := parseID(string(appendID(nil, epoch, seq)))
		if !ok || p != (position{epoch, seq}) {
			t.Errorf("%+v", p)
		}
		parseID(rapid.String().Draw(t, "anything"))
	})
}

func TestNewestOf(t *testing.T) {
	list := []queued{{device: 1, at: 1}, {device: 2, at: 2}, {device: 1, at: 3}, {device: 1, at: 4}, {device: 3, at: 5}}
	for i, at := range []rimewatch.Time{5, 7, 9, 8, 1} { // the last of device 1 is a late one
		list[i].value.At = at
	}
	var got []rimewatch.Time
	for _, x := range newestOf(list, func(x *queued) (int64, rimewatch.Time) { return x.device, x.value.At }) {
		got = append(got, x.at)
	}
	if !slices.Equal(got, []rimewatch.Time{2, 3, 5}) {
		t.Errorf("%v", got)
	}
}

// TestQueueIsBounded: a dispatcher that does not run costs no more than the
// newest reading and event of each device and the newest of each alert, and none is lost
// before there are very many.
func TestQueueIsBounded(t *testing.T) {
	h := New(Config{Store: fleet{}})
	h.live.Store(1)
	part := make([]store.Input, 1000)
	for n := range 1000 {
		for i := range part {
			part[i] = store.Input{Kind: store.InputReading, DeviceID: int64(i%100 + 1), Reading: rimewatch.Reading{At: rimewatch.Time(n*1000 + i + 1)}}
		}
		h.Publish(&publish.Commit{Parts: [][]store.Input{part}, Alerts: []publish.Alert{{Alert: &rimewatch.Alert{ID: 1}}}})
	}
	if n := len(h.queue.readings.list); n > 2*queueKept {
		t.Errorf("%d readings wait", n)
	}
	if n := len(h.queue.alerts.list); n != 1000 {
		t.Errorf("%d alerts wait", n)
	}
	last := make(map[int64]rimewatch.Time)
	for _, x := range h.queue.readings.list {
		last[x.device] = x.value.At
	}
	if len(last) != 100 || last[100] != 1_000_000 || last[1] != 999_901 {
		t.Errorf("%d devices, the newest of 100 at %d", len(last), last[100])
	}
}

// TestQueueOfEventsIsBounded: of devices and alerts that change without end, what
// waits is bounded, and the last of each is among it.
func TestQueueOfEventsIsBounded(t *testing.T) {
	h := New(Config{Store: fleet{}})
	h.live.Store(1)
	const each, turns = 1000, 3 * queueKept / 1000
	p := &publish.Commit{Devices: make([]publish.Device, each), Alerts: make([]publish.Alert, each)}
	for n := range turns {
		p.Now = rimewatch.Time(n + 1)
		for i := range each {
			p.Devices[i] = publish.Device{Kind: publish.DeviceUpdated, DeviceID: int64(i + 1), At: p.Now}
			p.Alerts[i] = publish.Alert{Kind: publish.AlertUpdated, Alert: &rimewatch.Alert{ID: int64(i + 1)}}
		}
		h.Publish(p)
	}
	q := &h.queue
	if d, a := len(q.devices.list), len(q.alerts.list); d > queueKept+each || a > queueKept+each {
		t.Errorf("%d events of devices and %d of alerts wait", d, a)
	}
	devices, alerts := make(map[int64]rimewatch.Time), make(map[int64]rimewatch.Time)
	for _, x := range q.devices.list {
		devices[x.DeviceID] = x.At
	}
	for _, x := range q.alerts.list {
		alerts[x.Alert.Alert.ID] = x.at
	}
	for id := int64(1); id <= each; id++ {
		if devices[id] != turns || alerts[id] != turns {
			t.Fatalf("the last of device %d is of %d, of alert %d of %d; want %d", id, devices[id], id, alerts[id], turns)
		}
	}
}

func BenchmarkPublish(b *testing.B) {
	for name, rooms := range map[string]int32{"nobody": 0, "somebody": 1} {
		b.Run(name, func(b *testing.B) {
			h := New(Config{Store: fleet{}})
			h.live.Store(rooms)
			part := make([]store.Input, 1000)
			for i := range part {
				part[i] = store.Input{Kind: store.InputReading, DeviceID: int64(i + 1)}
			}
			p := &publish.Commit{Parts: [][]store.Input{part}}
			b.ReportAllocs()
			for b.Loop() {
				h.Publish(p)
				h.queue.swap(&h.scratch)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/reading")
		})
	}
}

func BenchmarkAppendReading(b *testing.B) {
	r := &reading{seq: 1000, at: 1_800_000_000_000, device: &store.Identity{ID: 7, Serial: "WIF-0001"}, value: rimewatch.Reading{
		At: 1_800_000_000_000, ReceivedAt: 1_800_000_000_004, Present: rimewatch.AllFields, Values: [rimewatch.NumCore]float64{-18.4, 85.2, -5.1, 24.8, 45, 230.4, 8.2, 2.1},
	}}
	var buf []byte
	for b.Loop() {
		buf = appendReading(buf[:0], "k3v0d1pqzz", r)
	}
	if !json.Valid(buf[header:]) {
		b.Error("not JSON")
	}
	b.SetBytes(int64(len(buf)))
}

// TestReplaysAreBounded: a peer that takes nothing cannot have the past put into
// its queue again and again.
func TestReplaysAreBounded(t *testing.T) {
	trial.NeedsLong(t)
	inBubble(t, func(g *ground) {
		first, _ := g.join(1, 1).subscribe(`"id":1,"channel":"alerts"`)
		for i := range 10_000 {
			g.alert(int64(i+1), 1, rimewatch.Warning)
		}
		p := g.join(2, 1)
		p.hold()
		for range 40 {
			p.say(fmt.Sprintf(`{"op":"subscribe","id":1,"channel":"alerts","since":%q}`, first.Last))
			p.say(`{"op":"unsubscribe","id":1}`)
		}
		p.s.mu.Lock()
		waiting := p.s.waiting
		p.s.mu.Unlock()
		if waiting > 2*maxWaitingReadings {
			t.Errorf("%d frames wait", waiting)
		}
		p.free()
		told := make(map[bool]int)
		for _, m := range p.take() {
			if m.Op == "subscribed" {
				told[m.Recovered]++
			}
		}
		if told[true] < 5 || told[false] < 5 {
			t.Errorf("what was said of what is missing: %v", told)
		}
	})
}
