package contract

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestEndlessBodies: a compressed body that holds nothing ends at the limit, too.
func TestEndlessBodies(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	n.device(t, `{"serial":"D-1"}`)
	skipped := "\x50\x2a\x4d\x18\xf8\xff\x00\x00" + strings.Repeat("x", 0xfff8) // RFC 8878, section 3.1.2
	members := strings.Repeat(gzipped(t, ""), 100)
	var wg sync.WaitGroup
	for _, c := range [][3]string{
		{"/v1/readings", "gzip", members}, {"/v1/devices", "gzip", members},
		{"/v1/readings", "zstd", skipped}, {"/v1/devices", "zstd", skipped}, {batchPath, "zstd", skipped},
	} {
		wg.Go(func() { n.endless(t, c[0], c[1], c[2]) })
	}
	wg.Wait()
}

// endless sends a block again and again until the service has had enough.
func (n *tenant) endless(t *testing.T, path, encoding, block string) {
	c, err := net.Dial("tcp", n.addr)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = c.Close() }()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Error(err)
	}
	_, err = fmt.Fprintf(c, "POST /api%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Encoding: %s\r\nTransfer-Encoding: chunked\r\n\r\n", path, n.full, encoding)
	for sent := 0; err == nil && sent < 128<<20; sent += len(block) {
		_, err = fmt.Fprintf(c, "%x\r\n%s\r\n", len(block), block)
	}
	if err == nil {
		t.Errorf("%s, %s: 128 MiB of nothing were read", path, encoding)
	}
	b, _ := io.ReadAll(c)
	if len(b) > 0 && !strings.HasPrefix(string(b), "HTTP/1.1 413 ") { // a reset may overtake the answer
		t.Errorf("%s, %s: %q", path, encoding, clip(b))
	}
}

// TestWideImport: a header with more columns than anything has takes no more
// time than its length asks for. Comparing each with each would take longer than the
// client waits; how long it takes otherwise is the machine's affair.
func TestWideImport(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	var header strings.Builder
	header.WriteString("serial")
	for i := range 50_000 {
		fmt.Fprintf(&header, ",label:%d", i)
	}
	a := s.do(t, request{method: "POST", path: "/v1/devices/import", token: n.full, kind: "text/csv", body: header.String() + "\nX-1\n"})
	if a.status >= 500 {
		t.Errorf("%d: %s", a.status, clip(a.body))
	}
}

// TestSlowUploadsOfOthers: the slow uploads of one workspace do not keep another
// from sending a large batch.
func TestSlowUploadsOfOthers(t *testing.T) {
	t.Parallel()
	s := start(t)
	slow, quick := s.tenant(t, "Alpha"), s.tenant(t, "Beta")
	quick.device(t, `{"serial":"D-1"}`)
	for range 40 {
		c, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		if _, err := fmt.Fprintf(c, "POST /api%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 15000000\r\n\r\n{", batchPath, slow.full); err != nil {
			t.Fatal(err)
		}
	}
	body := `{"readings":[{"device_serial":"D-1","humidity":1}]}` + strings.Repeat(" ", 2<<20)
	for range 5 {
		if a := s.do(t, request{method: "POST", path: batchPath, token: quick.feed, body: body}); a.status != 200 {
			t.Errorf("%d %s", a.status, clip(a.body))
		}
	}
}
