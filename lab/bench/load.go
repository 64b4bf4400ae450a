package bench

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// conn is a keep-alive connection that speaks as little HTTP as possible: the
// generator must leave the cores to the server.
type conn struct {
	c       net.Conn
	r       *bufio.Reader
	buf     []byte
	refusal []byte // the body of the last answer that was no success
}

func dial(addr string) (*conn, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &conn{c: c, r: bufio.NewReaderSize(c, 64<<10)}, nil
}

// do sends a whole request and reads the whole answer; body may be nil.
func (c *conn) do(request []byte, body *[]byte) (status int, err error) {
	if _, err := c.c.Write(request); err != nil {
		return 0, err
	}
	line, err := c.r.ReadSlice('\n')
	if err != nil || len(line) < 12 {
		return 0, errors.Join(err, errors.New("no status line"))
	}
	status = int(line[9]-'0')*100 + int(line[10]-'0')*10 + int(line[11]-'0')
	length, chunked := int64(-1), false
	for {
		if line, err = c.r.ReadSlice('\n'); err != nil {
			return 0, err
		}
		if len(line) <= 2 {
			break
		}
		if rest, ok := cutHeader(line, "content-length:"); ok {
			if length, err = strconv.ParseInt(string(bytes.TrimSpace(rest)), 10, 64); err != nil {
				return 0, err
			}
		} else if rest, ok := cutHeader(line, "transfer-encoding:"); ok {
			chunked = bytes.Contains(rest, []byte("chunked"))
		}
	}
	if status >= 300 && body == nil {
		body = &c.refusal
	}
	return status, c.readBody(length, chunked, body)
}

func (c *conn) readBody(length int64, chunked bool, body *[]byte) error {
	if body != nil {
		*body = (*body)[:0]
	}
	take := func(n int64) error {
		if body == nil {
			_, err := c.r.Discard(int(n))
			return err
		}
		at := len(*body)
		*body = slices.Grow(*body, int(n))[:at+int(n)]
		_, err := io.ReadFull(c.r, (*body)[at:])
		return err
	}
	if !chunked {
		return take(max(length, 0))
	}
	for {
		line, err := c.r.ReadSlice('\n')
		if err != nil {
			return err
		}
		n, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 64)
		if err != nil {
			return err
		}
		if n > 0 {
			if err := take(n); err != nil {
				return err
			}
		}
		if _, err := c.r.Discard(2); err != nil {
			return err
		}
		if n == 0 {
			return nil
		}
	}
}

func cutHeader(line []byte, name string) ([]byte, bool) {
	if len(line) < len(name) || !bytes.EqualFold(line[:len(name)], []byte(name)) {
		return nil, false
	}
	return line[len(name):], true
}

// request forms a request with a body.
func request(dst []byte, method, path, token, contentType string, body []byte) []byte {
	dst = fmt.Appendf(dst, "%s %s HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n", method, path, token)
	if body != nil {
		dst = fmt.Appendf(dst, "Content-Type: %s\r\nContent-Length: %d\r\n", contentType, len(body))
	}
	dst = append(dst, "\r\n"...)
	return append(dst, body...)
}

// result of a load.
type result struct {
	count   int64
	elapsed time.Duration
	times   []time.Duration // sorted
	cpu     time.Duration   // of the server
	own     time.Duration   // processor time of the generator
}

// ownEach is the generator's processor time for one request, µs.
func (r *result) ownEach() float64 { return float64(r.own.Microseconds()) / float64(max(r.count, 1)) }

// ownShare is the generator's part of all cores' time, %.
func (r *result) ownShare() float64 {
	return 100 * r.own.Seconds() / r.elapsed.Seconds() / float64(runtime.NumCPU())
}

// ownCPU is the processor time that this process has used so far.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// cpuEach is the server's processor time for one request, µs.
func (r *result) cpuEach() float64 { return float64(r.cpu.Microseconds()) / float64(max(r.count, 1)) }

func (r *result) rate() float64 { return float64(r.count) / r.elapsed.Seconds() }

// quantile of the latencies, q in 0–1.
func (r *result) quantile(q float64) time.Duration {
	if len(r.times) == 0 {
		return 0
	}
	return r.times[min(int(q*float64(len(r.times))), len(r.times)-1)]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// upTo ends a load after as many requests of every connection.
func upTo(requests int, next func(w, n int, buf []byte) []byte) func(w, n int, buf []byte) []byte {
	return func(w, n int, buf []byte) []byte {
		if n == requests {
			return nil
		}
		return next(w, n, buf)
	}
}

// drive keeps conns connections busy for a span. next gives the n-th request
// of a worker, built into the buffer it is given; want is the right status.
func drive(addr string, conns int, span time.Duration, want int, next func(worker, n int, buf []byte) []byte) (result, error) {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		total result
		fail  error
	)
	began := time.Now()
	deadline := began.Add(span)
	for w := range conns {
		wg.Go(func() {
			times, err := worker(addr, w, deadline, want, next)
			mu.Lock()
			defer mu.Unlock()
			total.count += int64(len(times))
			total.times = append(total.times, times...)
			fail = errors.Join(fail, err)
		})
	}
	wg.Wait()
	total.elapsed = time.Since(began)
	slices.Sort(total.times)
	return total, fail
}

func worker(addr string, w int, deadline time.Time, want int, next func(worker, n int, buf []byte) []byte) ([]time.Duration, error) {
	c, err := dial(addr)
	if err != nil {
		return nil, err
	}
	defer c.c.Close()
	var times []time.Duration
	for n := 0; time.Now().Before(deadline); n++ {
		if c.buf = next(w, n, c.buf[:0]); c.buf == nil {
			return times, nil
		}
		began := time.Now()
		status, err := c.do(c.buf, nil)
		if err != nil {
			return times, err
		}
		if status != want {
			return times, fmt.Errorf("status %d, want %d: %.300s", status, want, c.refusal)
		}
		times = append(times, time.Since(began))
	}
	return times, nil
}
