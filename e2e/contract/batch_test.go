package contract

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/rimewatch/rimewatch"
)

const batchPath = "/v1/readings/batch"

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zstandard(t *testing.T, text string) string {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(z.EncodeAll([]byte(text), nil))
}

// TestBatch reads the sentences about POST /v1/readings/batch.
func TestBatch(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	n.device(t, `{"serial":"D-1"}`)
	n.device(t, `{"serial":"D-2"}`)
	// item is one of the device's readings, a millisecond after the one before.
	base := s.moment() - 24*rimewatch.Hour
	item := func(i int) string {
		return fmt.Sprintf(`{"device_serial":"D-1","humidity":50,"recorded_at":%q}`, base+rimewatch.Time(i))
	}
	all := make([]string, 10_001)
	for i := range all {
		all[i] = item(1_000_000 + i)
	}
	list := func(k int) string { return strings.Join(all[:k], ",") }
	lines := func(k int) string { return strings.Join(all[:k], "\n") }
	q := func(body string) request {
		return request{method: "POST", path: batchPath, token: n.feed, body: body}
	}
	nd := func(body string) request {
		return request{method: "POST", path: batchPath, token: n.feed, body: body, kind: "application/x-ndjson"}
	}
	packed := func(r request, encoding, body string) request {
		r.body, r.header = body, map[string]string{"Content-Encoding": encoding}
		return r
	}
	counts := func(accepted, duplicates, rejected int) map[string]any {
		return map[string]any{"data": keys{"accepted", "duplicates", "held", "rejected", "results"}, "data.accepted": accepted, "data.duplicates": duplicates, "data.rejected": rejected, "data.results.#": rejected}
	}
	and := func(m map[string]any, more map[string]any) map[string]any {
		for k, v := range more {
			m[k] = v
		}
		return m
	}
	one := `{"readings":[` + item(1) + `]}`
	s.recite(t, []row{
		{says: `{"readings":[…]}: 200`, req: q(one), status: 200, want: counts(1, 0, 0)},
		{says: "again: duplicates", req: q(one), status: 200, want: counts(0, 1, 0)},
		{says: "the same item twice in a batch", req: q(`{"readings":[` + item(2) + `,` + item(2) + `]}`), status: 200, want: counts(1, 1, 0)},
		{says: "good items are stored even when others are bad; only the rejected are listed", req: q(`{"readings":[` + item(3) + `,{"device_serial":"D-1","humidity":101},{"device_serial":"NOBODY","humidity":1},` + item(4) + `,{"device_serial":"D-1","Humidity":1}]}`), status: 200, want: and(counts(2, 0, 2), map[string]any{
			"data.results.0": map[string]any{"index": 1, "status": 422, "code": "validation_failed", "fields": map[string]any{"humidity": []any{"must be between 0 and 100"}}},
			"data":           keys{"accepted", "duplicates", "held", "rejected", "results", "waiting"}, "data.held": 1,
			"data.results.1.index": 4, "data.results.1.status": 422, "data.results.1.code": "validation_failed", "data.results.1.fields": keys{"Humidity"},
		})},
		{says: "items that are no objects", req: q(`{"readings":[1,null,"x",[],` + item(5) + `]}`), status: 200, want: and(counts(1, 0, 4), map[string]any{"data.results.3": map[string]any{"index": 3, "status": 422, "code": "validation_failed", "fields": map[string]any{"reading": []any{"must be an object"}}}})},
		{says: "an item too far ahead or too old", req: q(`{"readings":[{"device_serial":"D-1","humidity":1,"recorded_at":"9999-01-01T00:00:00Z"},{"device_serial":"D-1","humidity":1,"recorded_at":"2016-01-01T00:00:00Z"}]}`), status: 200, want: and(counts(0, 0, 2), map[string]any{"data.results.0.fields": keys{"recorded_at"}, "data.results.1.fields": keys{"recorded_at"}})},
		{says: "a malformed document is 400, nothing is stored", req: q(`{"readings":[` + item(6) + `,]}`), status: 400, code: "invalid_json"},
		{says: "an unfinished document", req: q(`{"readings":[` + item(6)), status: 400, code: "invalid_json"},
		{says: "bytes after the document", req: q(`{"readings":[` + item(6) + `]}{}`), status: 400, code: "invalid_json"},
		{says: "duplicate keys in an item", req: q(`{"readings":[` + item(6) + `,{"device_serial":"D-1","humidity":1,"humidity":2}]}`), status: 400, code: "invalid_json"},
		{says: "readings twice", req: q(`{"readings":[` + item(6) + `],"readings":[]}`), status: 400, code: "invalid_json"},
		{says: "a bare array", req: q(`[` + item(6) + `]`), status: 400, code: "invalid_json"},
		{says: "an unknown member after the readings", req: q(`{"readings":[` + item(6) + `],"more":1}`), status: 422, code: "validation_failed", fields: []string{"more"}},
		{says: "a mis-cased member", req: q(`{"Readings":[` + item(6) + `]}`), status: 422, code: "validation_failed"},
		{says: "none of it was stored", req: q(`{"readings":[` + item(6) + `]}`), status: 200, want: counts(1, 0, 0)},
		{says: "readings is an array", req: q(`{"readings":{}}`), status: 422, code: "validation_failed", fields: []string{"readings"}},
		{says: "readings is not null", req: q(`{"readings":null}`), status: 422, code: "validation_failed", fields: []string{"readings"}},
		{says: "no items: 422", req: q(`{"readings":[]}`), status: 422, code: "validation_failed", fields: []string{"readings"}},
		{says: "no readings: 422", req: q(`{}`), status: 422, code: "validation_failed", fields: []string{"readings"}},
		{says: "NDJSON", req: nd(item(11) + "\n" + item(12) + "\n"), status: 200, want: counts(2, 0, 0)},
		{says: "NDJSON without an end of line, with blank ones and CR LF", req: nd("\n" + item(13) + "\r\n\r\n" + item(14)), status: 200, want: counts(2, 0, 0)},
		{says: "a bad NDJSON line rejects that item: status 400, invalid_json", req: nd(item(15) + "\n{\"device\n" + item(16) + "{}\n{\"device_serial\":\"D-1\",\"humidity\":\xff}\n" + item(17)), status: 200, want: and(counts(2, 0, 3), map[string]any{
			"data.results.0.index": 1, "data.results.0.status": 400, "data.results.0.code": "invalid_json", "data.results.1.index": 2, "data.results.1.code": "invalid_json", "data.results.2.index": 3, "data.results.2.status": 400,
		})},
		{says: "NDJSON of nothing has no items", req: nd(""), status: 422, code: "validation_failed", fields: []string{"readings"}},
		{says: "NDJSON of blank lines has no items", req: nd("\n \n"), status: 422, code: "validation_failed", fields: []string{"readings"}},
		{says: "up to 10,000 items", req: q(`{"readings":[` + list(10_000) + `]}`), status: 200, want: counts(10_000, 0, 0)},
		{says: "up to 10,000 lines, blank ones not counted", req: nd(lines(10_000) + "\n\n\n"), status: 200, want: counts(0, 10_000, 0)},
		{says: "more than 10,000: 413", req: q(`{"readings":[` + list(10_001) + `]}`), status: 413, code: "payload_too_large"},
		{says: "more than 10,000 lines: 413", req: nd(lines(10_001)), status: 413, code: "payload_too_large"},
		{says: "gzip", req: packed(q(""), "gzip", gzipped(t, `{"readings":[`+item(21)+`]}`)), status: 200, want: counts(1, 0, 0)},
		{says: "zstd", req: packed(q(""), "zstd", zstandard(t, `{"readings":[`+item(22)+`]}`)), status: 200, want: counts(1, 0, 0)},
		{says: "NDJSON in zstd", req: packed(nd(""), "zstd", zstandard(t, item(23)+"\n"+item(24))), status: 200, want: counts(2, 0, 0)},
		{says: "a cut gzip stream", req: packed(q(""), "gzip", gzipped(t, one)[:40]), status: 400, code: "invalid_json"},
		{says: "a cut zstd stream", req: packed(q(""), "zstd", zstandard(t, one)[:40]), status: 400, code: "invalid_json"},
		{says: "bytes after a gzip stream", req: packed(q(""), "gzip", gzipped(t, one)+"junk"), status: 400, code: "invalid_json"},
		{says: "16 MiB bulk after decompression: gzip", req: packed(q(""), "gzip", gzipped(t, strings.Repeat(" ", 16<<20)+one)), status: 413, code: "payload_too_large"},
		{says: "16 MiB bulk after decompression: zstd", req: packed(q(""), "zstd", zstandard(t, strings.Repeat(" ", 16<<20)+one)), status: 413, code: "payload_too_large"},
		{says: "1 MiB single after decompression", req: packed(request{method: "POST", path: "/v1/readings", token: n.feed}, "gzip", gzipped(t, strings.Repeat(" ", 1<<20)+item(31))), status: 413, code: "payload_too_large"},
		{says: "just under 16 MiB", req: packed(q(""), "gzip", gzipped(t, strings.Repeat(" ", 16<<20-len(one))+one)), status: 200, want: counts(0, 1, 0)},
		{says: "1 MiB single", req: request{method: "POST", path: "/v1/readings", token: n.feed, body: item(32) + strings.Repeat(" ", 1<<20-len(item(32)))}, status: 201},
		{says: "more than 1 MiB single", req: request{method: "POST", path: "/v1/readings", token: n.feed, body: item(33) + strings.Repeat(" ", 1<<20-len(item(33))+1)}, status: 413, code: "payload_too_large"},
	})
}

// TestBombs: a small body that grows without end is cut off at the limit.
func TestBombs(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	spaces := strings.Repeat(" ", 24<<20)
	for _, b := range []struct{ encoding, body string }{{"gzip", gzipped(t, spaces)}, {"zstd", zstandard(t, spaces)}} {
		for _, r := range []struct{ method, path string }{{"POST", batchPath}, {"POST", "/v1/readings"}, {"POST", "/v1/devices"}, {"PATCH", "/v1/devices/x/heartbeat"}} {
			a := s.do(t, request{method: r.method, path: r.path, token: n.full, body: b.body, kind: "application/json", header: map[string]string{"Content-Encoding": b.encoding}})
			if a.status != 413 || a.text("error.code") != "payload_too_large" {
				t.Errorf("%s %s, %s: %d %s", r.method, r.path, b.encoding, a.status, a.body)
			}
		}
	}
	wide, err := zstd.NewWriter(nil, zstd.WithWindowSize(128<<20), zstd.WithSingleSegment(false))
	if err != nil {
		t.Fatal(err)
	}
	huge := string(wide.EncodeAll([]byte(spaces), nil))
	a := s.do(t, request{method: "POST", path: batchPath, token: n.full, body: huge, header: map[string]string{"Content-Encoding": "zstd"}})
	if a.status != 413 && a.status != 400 {
		t.Errorf("a window of 128 MiB: %d %s", a.status, a.body)
	}
}
