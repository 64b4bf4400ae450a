package v1

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/rimewatch/rimewatch/internal/httpapi"
)

// BenchmarkServe measures the processor time of single readings over real
// connections, client included, against a handler that only reads and answers.
func BenchmarkServe(b *testing.B) {
	api, token := benchAPI(b)
	bare := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var buf [1024]byte
		_, _ = r.Body.Read(buf[:])
		w.Header()["Content-Type"] = []string{httpapi.TypeJSON}
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"success":true,"data":{}}`))
	})
	for name, h := range map[string]http.Handler{"api": api, "bare": bare} {
		b.Run(name, func(b *testing.B) { serveLoad(b, h, token, 64) })
	}
}

func serveLoad(b *testing.B, h http.Handler, token string, conns int) {
	server := httptest.NewServer(h)
	defer server.Close()
	text := fmt.Sprintf("POST /api/v1/readings HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", token, len(nominalBody), nominalBody)
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	b.ResetTimer()
	before := cpuTime()
	for range conns {
		wg.Go(func() {
			c, err := net.Dial("tcp", server.Listener.Addr().String())
			if err != nil {
				b.Error(err)
				return
			}
			defer func() { _ = c.Close() }()
			in := bufio.NewReader(c)
			for left.Add(-1) >= 0 {
				if _, err := c.Write([]byte(text)); err != nil {
					b.Error(err)
					return
				}
				if !readAnswer(in) {
					b.Error("no answer")
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(cpuTime()-before)/float64(b.N)/1000, "cpu-µs/op")
}

func readAnswer(in *bufio.Reader) bool {
	length := 0
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return false
		}
		if len(line) <= 2 {
			break
		}
		_, _ = fmt.Sscanf(string(line), "Content-Length: %d", &length)
	}
	n, err := in.Discard(length)
	return err == nil && n == length
}

// cpuTime is the processor time of this process in ns.
func cpuTime() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
