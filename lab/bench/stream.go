package bench

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rimewatch/rimewatch"
)

const streamDevices = 1000

// benchStream: how soon subscribers hear of a reading, what they cost, and that
// those who do not listen slow nobody down.
func benchStream(o *options) error {
	heading("Stream: %d devices", streamDevices)
	s, err := start("child-app", filepath.Join(o.dir, "stream"))
	if err != nil {
		return err
	}
	defer s.kill()
	if err := createDevices(s, streamDevices, ""); err != nil {
		return err
	}
	for _, part := range []func(*options, *server) error{streamLatency, streamIdle, streamCrowd, streamDeaf} {
		if err := part(o, s); err != nil {
			return err
		}
	}
	return nil
}

// subscriber is a WebSocket that does as little as possible: the generator must
// leave the cores to the server.
type subscriber struct {
	c net.Conn
	r *bufio.Reader
}

// subscribe opens a stream and subscribes to a channel.
func subscribe(s *server, channel string, buffer int) (*subscriber, error) {
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		return nil, err
	}
	x := &subscriber{c, bufio.NewReaderSize(c, buffer)}
	if err := x.open(s, channel); err != nil {
		_ = c.Close()
		return nil, err
	}
	return x, nil
}

func (x *subscriber) open(s *server, channel string) error {
	_, err := fmt.Fprintf(x.c, "GET /api/v1/stream HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: rimewatch.v1\r\n\r\n", s.token)
	if err != nil {
		return err
	}
	line, err := x.r.ReadString('\n')
	if err != nil || len(line) < 12 || line[9:12] != "101" {
		return errors.Join(err, fmt.Errorf("the stream was answered with %q", line))
	}
	for line != "\r\n" {
		if line, err = x.r.ReadString('\n'); err != nil {
			return err
		}
	}
	text := `{"op":"subscribe","id":1,"channel":"` + channel + `"}`
	frame := append([]byte{0x81, 0x80 | byte(len(text)), 0, 0, 0, 0}, text...) // masked with zeros
	if _, err := x.c.Write(frame); err != nil {
		return err
	}
	answer, err := x.next(nil)
	if err == nil && !bytes.Contains(answer, []byte(`"op":"subscribed"`)) {
		err = fmt.Errorf("the subscription was answered with %s", answer)
	}
	return err
}

// next reads a message's payload into buf; pings are answered.
func (x *subscriber) next(buf []byte) ([]byte, error) {
	for {
		code, n, err := x.head()
		if err != nil {
			return nil, err
		}
		buf = slices.Grow(buf[:0], n)[:n]
		if _, err := io.ReadFull(x.r, buf); err != nil {
			return nil, err
		}
		switch code {
		case 9:
			if _, err := x.c.Write([]byte{0x8a, 0x80, 0, 0, 0, 0}); err != nil {
				return nil, err
			}
		case 8:
			return nil, fmt.Errorf("closed with %d", binary.BigEndian.Uint16(buf))
		default:
			return buf, nil
		}
	}
}

// head reads a frame's head.
func (x *subscriber) head() (code, n int, err error) {
	b, err := x.r.Peek(2)
	if err != nil {
		return 0, 0, err
	}
	code, n = int(b[0]&15), int(b[1]&127)
	size := 2
	switch n {
	case 126:
		size = 4
	case 127:
		size = 10
	}
	if b, err = x.r.Peek(size); err != nil {
		return 0, 0, err
	}
	switch n {
	case 126:
		n = int(binary.BigEndian.Uint16(b[2:]))
	case 127:
		n = int(binary.BigEndian.Uint64(b[2:]))
	}
	_, err = x.r.Discard(size)
	return code, n, err
}

// count skips messages until the connection ends, and notes how many came in
// all and when.
func (x *subscriber) count(frames *atomic.Int64, worstGap *atomic.Int64) {
	last := time.Now()
	for {
		code, n, err := x.head()
		if err != nil {
			return
		}
		if _, err := x.r.Discard(n); err != nil {
			return
		}
		if code != 1 {
			continue
		}
		frames.Add(1)
		if x.r.Buffered() == 0 {
			now := time.Now()
			gap := now.Sub(last).Nanoseconds()
			for old := worstGap.Load(); gap > old && !worstGap.CompareAndSwap(old, gap); old = worstGap.Load() {
			}
			last = now
		}
	}
}

// paced posts single readings at a steady rate. acked hears of each by its
// number, which the reading carries as start_count.
func paced(s *server, rate, conns int, span time.Duration, acked func(n int, sent, done time.Time)) (result, error) {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		total result
		fail  error
	)
	began := time.Now()
	base := rimewatch.TimeOf(began)
	cpu := s.cpu()
	for w := range conns {
		wg.Go(func() {
			c, err := dial(s.addr)
			if err != nil {
				mu.Lock()
				fail = errors.Join(fail, err)
				mu.Unlock()
				return
			}
			defer c.c.Close()
			var times []time.Duration
			for n := w; ; n += conns {
				due := began.Add(time.Duration(n) * time.Second / time.Duration(rate))
				if due.Sub(began) > span {
					break
				}
				time.Sleep(time.Until(due))
				body := fmt.Appendf(nil, `{"device_serial":%q,"recorded_at":"%s","product_zone_temp":-18.4,"compressor_discharge_temp":85.2,"compressor_suction_temp":-5.1,"ambient_temp":24.8,"humidity":45,"voltage":230.4,"amp_draw":8.2,"vibration_level":2.1,"start_count":%d}`,
					serial(n%streamDevices), (base + rimewatch.Time(n/streamDevices)).String(), n)
				c.buf = request(c.buf[:0], "POST", "/api/v1/readings", s.token, "application/json", body)
				sent := time.Now()
				status, err := c.do(c.buf, nil)
				done := time.Now()
				if err == nil && status != 201 {
					err = fmt.Errorf("status %d", status)
				}
				if err != nil {
					mu.Lock()
					fail = errors.Join(fail, err)
					mu.Unlock()
					return
				}
				times = append(times, done.Sub(sent))
				if acked != nil {
					acked(n, sent, done)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			total.times = append(total.times, times...)
		})
	}
	wg.Wait()
	total.elapsed, total.count = time.Since(began), int64(len(total.times))
	total.cpu = s.cpu() - cpu
	slices.Sort(total.times)
	return total, fail
}

func streamLatency(o *options, s *server) error { return latency(o, s, s) }

// latency: from the answer to a POST until its message is at a subscriber, who may be
// at another node. A message may come first; then the time is 0.
func latency(o *options, s, at *server) error {
	const rate = 5000
	x, err := subscribe(at, "readings", 64<<10)
	if err != nil {
		return err
	}
	n := int(o.span().Seconds()*rate) + rate
	ackedAt, cameAt := make([]atomic.Int64, n), make([]atomic.Int64, n)
	var came atomic.Int64
	go func() {
		var buf []byte
		key := []byte(`"start_count":`)
		for {
			if buf, err = x.next(buf); err != nil {
				return
			}
			now := time.Now().UnixNano()
			i := bytes.Index(buf, key)
			if i < 0 {
				continue
			}
			digits := buf[i+len(key):]
			if k, err := strconv.Atoi(string(digits[:bytes.IndexAny(digits, ",}")])); err == nil && k < n && cameAt[k].Swap(now) == 0 {
				came.Add(1)
			}
		}
	}()
	m, err := paced(s, rate, 32, o.span(), func(k int, _, done time.Time) { ackedAt[k].Store(done.UnixNano()) })
	if err != nil {
		return err
	}
	for wait := time.Now(); came.Load() < m.count && time.Since(wait) < 2*time.Second; {
		time.Sleep(10 * time.Millisecond)
	}
	_ = x.c.Close()
	var lat result
	for k := range n {
		if a, c := ackedAt[k].Load(), cameAt[k].Load(); a != 0 && c != 0 {
			lat.times = append(lat.times, max(0, time.Duration(c-a)))
		}
	}
	slices.Sort(lat.times)
	row(fmt.Sprintf("readings acknowledged at %d/s, of which arrived", rate), fmt.Sprintf("%.2f %%", 100*float64(came.Load())/float64(max(m.count, 1))), "100 %", came.Load() == m.count)
	row("acknowledged → message at a subscriber, p50 / p99 / worst", fmt.Sprintf("%.2f / %.1f / %.1f ms", ms(lat.quantile(.5)), ms(lat.quantile(.99)), ms(lat.quantile(1))), "p99 < 20 ms", lat.quantile(.99) < 20*time.Millisecond)
	row("  POST beside it, p50 / p99 / worst", fmt.Sprintf("%.1f / %.1f / %.1f ms", ms(m.quantile(.5)), ms(m.quantile(.99)), ms(m.quantile(1))), "", true)
	return nil
}

// streamIdle: what a subscriber costs who hears nothing.
func streamIdle(o *options, s *server) error {
	n := 5000
	if o.quick {
		n = 1000
	}
	if _, err := s.order("gc"); err != nil {
		return err
	}
	before := s.rss()
	all, err := crowd(s, "alerts", n, 512)
	defer leave(all)
	if err != nil {
		return err
	}
	raw := s.rss() - before
	if _, err := s.order("gc"); err != nil {
		return err
	}
	each := float64(s.rss()-before) / float64(n)
	row(fmt.Sprintf("%d idle subscribers, resident memory each", n), fmt.Sprintf("%.1f kB", each/1000), "< 20 kB", each < 20_000)
	row("  before the garbage of the handshakes is collected", fmt.Sprintf("%.1f kB", float64(raw)/float64(n)/1000), "", true)
	return nil
}

// crowd opens many streams.
func crowd(s *server, channel string, n, buffer int) ([]*subscriber, error) {
	all := make([]*subscriber, 0, n)
	for range n {
		x, err := subscribe(s, channel, buffer)
		if err != nil {
			return all, fmt.Errorf("subscriber %d: %w", len(all), err)
		}
		all = append(all, x)
	}
	return all, nil
}

func leave(all []*subscriber) {
	for _, x := range all {
		_ = x.c.Close()
	}
}

// streamCrowd: very many subscribers to very many readings.
func streamCrowd(o *options, s *server) error {
	const rate, n = 1000, 1000
	all, err := crowd(s, "readings", n, 64<<10)
	if err != nil {
		leave(all)
		return err
	}
	var frames, gap atomic.Int64
	var wg sync.WaitGroup
	for _, x := range all {
		wg.Go(func() { x.count(&frames, &gap) })
	}
	m, err := paced(s, rate, 8, o.span(), nil)
	each := float64(frames.Load()) / n / m.elapsed.Seconds()
	leave(all)
	wg.Wait()
	if err != nil {
		return err
	}
	cores := m.cpu.Seconds() / m.elapsed.Seconds()
	row(fmt.Sprintf("%d subscribers to %d devices with %d readings/s, messages each", n, streamDevices, rate), fmt.Sprintf("%.0f/s", each), "", true)
	row("  longest that any of them waited for the next", fmt.Sprintf("%.0f ms", float64(gap.Load())/1e6), "< 500 ms", gap.Load() < 500e6)
	row("  server CPU", fmt.Sprintf("%.2f cores", cores), "< 1.2 cores", cores < 1.2)
	row("  POST beside it, p50 / p99 / worst", fmt.Sprintf("%.1f / %.1f / %.1f ms", ms(m.quantile(.5)), ms(m.quantile(.99)), ms(m.quantile(1))), "", true)
	return nil
}

// streamDeaf: sockets that never read.
func streamDeaf(o *options, s *server) error {
	all, err := crowd(s, "readings", 20, 512)
	defer leave(all)
	if err != nil {
		return err
	}
	m, err := paced(s, 5000, 32, 2*o.span(), nil)
	if err != nil {
		return err
	}
	row("POST at 5000/s with 20 sockets that never read, worst", fmt.Sprintf("%.1f ms", ms(m.quantile(1))), "< 500 ms", m.quantile(1) < 500*time.Millisecond)
	return nil
}
