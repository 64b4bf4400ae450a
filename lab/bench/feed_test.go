package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// smallFeed is a feed without the physics: a unit's fields are its own number.
func smallFeed(devices, conns int) *feed {
	f := &feed{json: &texts{}, line: &texts{}}
	for i := range 60 * feedUnits {
		r := rimewatch.Reading{}
		for field := range rimewatch.NumCore {
			r.Values[field] = float64(i%1000) / 10
		}
		f.add(&r)
	}
	return f.fleet(devices).over(conns)
}

// body cuts the body off a request and holds its length against the header.
func body(t *testing.T, request []byte) []byte {
	t.Helper()
	head, body, ok := bytes.Cut(request, []byte("\r\n\r\n"))
	if !ok {
		t.Fatalf("no end of the header in %.300q", request)
	}
	_, length, _ := bytes.Cut(head, []byte("Content-Length:"))
	if got := strings.TrimSpace(string(length)); got != fmt.Sprint(len(body)) {
		t.Errorf("Content-Length %q of %d bytes", got, len(body))
	}
	return body
}

type sentReading struct {
	Serial string         `json:"device_serial"`
	At     rimewatch.Time `json:"recorded_at"`
	Zone   *float64       `json:"product_zone_temp"`
	Shake  *float64       `json:"vibration_level"`
}

// TestFeedOrder: in every order, the readings of one device come in order of
// time, and no two connections send for the same device.
func TestFeedOrder(t *testing.T) {
	for name, next := range map[string]order{"in turn": inTurn, "friendly": friendly, "at random": atRandom, "ten hot": tenHot} {
		t.Run(name, func(t *testing.T) {
			f := smallFeed(4000, feedConns)
			last, owner := make(map[string]rimewatch.Time), make(map[string]int)
			for w := range feedConns {
				batch := f.batches(500, "token", next)
				for n := range 4 {
					var sent struct{ Readings []sentReading }
					if err := json.Unmarshal(body(t, batch(w, n, nil)), &sent); err != nil {
						t.Fatal(err)
					}
					if len(sent.Readings) != 500 {
						t.Fatalf("%d readings in a batch", len(sent.Readings))
					}
					for _, r := range sent.Readings {
						if before, ok := last[r.Serial]; ok && (r.At <= before || owner[r.Serial] != w) {
							t.Fatalf("%s: %v of connection %d after %v of %d", r.Serial, r.At, w, before, owner[r.Serial])
						}
						if last[r.Serial], owner[r.Serial] = r.At, w; r.Zone == nil || r.Shake == nil {
							t.Fatalf("%s: a field is missing", r.Serial)
						}
					}
				}
			}
		})
	}
}

// TestInTurn: a batch holds as many devices as readings, and the next one is a
// minute later.
func TestInTurn(t *testing.T) {
	f := smallFeed(8000, feedConns)
	batch := f.batches(1000, "token", inTurn)
	var first, second struct{ Readings []sentReading }
	if err := json.Unmarshal(body(t, batch(3, 0, nil)), &first); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(body(t, batch(3, 1, nil)), &second); err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for i, r := range first.Readings {
		seen[r.Serial] = true
		again := second.Readings[i]
		if d := again.At - r.At; again.Serial != r.Serial || d < rimewatch.Minute-4*rimewatch.Second || d > rimewatch.Minute+4*rimewatch.Second {
			t.Fatalf("%s at %v is followed by %s at %v", r.Serial, r.At, again.Serial, again.At)
		}
	}
	if len(seen) != 1000 {
		t.Errorf("%d devices in a batch, want 1000", len(seen))
	}
}

// TestTenHot: ten devices send 99 % of the readings.
func TestTenHot(t *testing.T) {
	f := smallFeed(4000, feedConns)
	count := make(map[int]int)
	for w := range feedConns {
		for n := range 1000 {
			device, _, _ := f.reading(w, n, tenHot)
			count[device]++
		}
	}
	hot, all := 0, 0
	for _, n := range count {
		if n > 100 {
			hot++
			all += n
		}
	}
	if hot != 10 || all < 99*feedConns*10 {
		t.Errorf("%d devices send %d of %d readings", hot, all, feedConns*1000)
	}
}

// TestLines: the same feed gives VictoriaMetrics the readings that it gives the
// service.
func TestLines(t *testing.T) {
	ours, theirs := smallFeed(2000, 1), smallFeed(2000, 1)
	theirs.start = ours.start
	var sent struct{ Readings []sentReading }
	if err := json.Unmarshal(body(t, ours.batches(50, "token", inTurn)(0, 0, nil)), &sent); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(body(t, theirs.lines(50, "none", inTurn)(0, 0, nil))), "\n"), "\n")
	if len(lines) != len(sent.Readings) {
		t.Fatalf("%d lines", len(lines))
	}
	for i, r := range sent.Readings {
		tag, rest, _ := strings.Cut(lines[i], " ")
		fields, at, _ := strings.Cut(rest, " ")
		if tag != "reading,device="+r.Serial || at != fmt.Sprint(int64(r.At)) || strings.Count(fields, "=") != int(rimewatch.NumCore) ||
			!strings.HasPrefix(fields, fmt.Sprintf("product_zone_temp=%v,", *r.Zone)) {
			t.Errorf("line %q of %+v", lines[i], r)
		}
	}
}
