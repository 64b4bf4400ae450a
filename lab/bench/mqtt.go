package bench

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// What a shop's worth of devices does over MQTT.
const (
	mqttConns  = 1000
	mqttRate   = 5000 // messages a second, all together
	mqttIdle   = 10_000
	mqttWithin = 50 * time.Millisecond
	mqttMemory = 400 // MB
)

// benchMQTT: how soon messages at QoS 1 are stored and acknowledged, at a steady
// rate and as fast as possible, and what connections cost that say nothing.
func benchMQTT(o *options) error {
	heading("MQTT: %d devices with a connection each", mqttConns)
	s, err := start("child-app", filepath.Join(o.dir, "mqtt"))
	if err != nil {
		return err
	}
	defer s.kill()
	if err := createDevices(s, mqttConns, ""); err != nil {
		return err
	}
	port, err := s.order("mqtt")
	if err != nil {
		return err
	}
	addr := fmt.Sprintf("127.0.0.1:%d", port[0])
	conns, err := mqttDial(addr, s.token, mqttConns, "pub")
	if err != nil {
		return err
	}
	steady, err := mqttLoad(s, conns, o.span(), mqttRate)
	if err != nil {
		return err
	}
	row(fmt.Sprintf("publish and PUBACK at %d/s, p50", mqttRate), fmt.Sprintf("%.1f ms", ms(steady.quantile(0.5))), "", true)
	row("p99", fmt.Sprintf("%.1f ms", ms(steady.quantile(0.99))), "≤ 50 ms", steady.quantile(0.99) <= mqttWithin)
	row("reached", fmt.Sprintf("%.0f/s", steady.rate()), fmt.Sprintf("≥ %d/s", mqttRate), steady.rate() >= 0.98*mqttRate)
	row("CPU of the server a message", fmt.Sprintf("%.0f µs", steady.cpuEach()), "", true)
	row("CPU of the generator a message", fmt.Sprintf("%.0f µs", steady.ownEach()), "", true)
	full, err := mqttLoad(s, conns, o.span(), 0)
	if err != nil {
		return err
	}
	row("as fast as they are acknowledged", fmt.Sprintf("%.0f/s", full.rate()), fmt.Sprintf("≥ %d/s", mqttRate), full.rate() >= mqttRate)
	row("p99 then", fmt.Sprintf("%.1f ms", ms(full.quantile(0.99))), "", true)
	for _, c := range conns {
		_ = c.c.Close()
	}
	return mqttSilent(s, addr)
}

// mqttSilent: what connections cost that say nothing.
func mqttSilent(s *server, addr string) error {
	if _, err := s.order("gc"); err != nil {
		return err
	}
	before := s.rss()
	idle, err := mqttDial(addr, s.token, mqttIdle, "idle")
	if err != nil {
		return err
	}
	defer func() {
		for _, c := range idle {
			_ = c.c.Close()
		}
	}()
	if _, err := s.order("gc"); err != nil {
		return err
	}
	mb := float64(s.rss()-before) / 1e6
	row(fmt.Sprintf("%d silent connections", mqttIdle), fmt.Sprintf("%.0f MB", mb), fmt.Sprintf("≤ %d MB", mqttMemory), mb <= mqttMemory)
	return nil
}

// mqttConn is a connection that speaks as little MQTT as possible.
type mqttConn struct {
	c net.Conn
	r *bufio.Reader
	n int
}

// mqttDial opens connections, a few at a time.
func mqttDial(addr, password string, n int, name string) ([]*mqttConn, error) {
	out := make([]*mqttConn, n)
	var wg sync.WaitGroup
	var failed error
	var once sync.Once
	next := make(chan int)
	for range 16 {
		wg.Go(func() {
			for i := range next {
				c, err := mqttOpen(addr, password, fmt.Sprintf("%s-%d", name, i))
				if err != nil {
					once.Do(func() { failed = err })
					continue
				}
				out[i] = c
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	return out, failed
}

func mqttOpen(addr, password, id string) (*mqttConn, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	text := func(b []byte, s string) []byte { return append(append(b, byte(len(s)>>8), byte(len(s))), s...) }
	body := append(text(nil, "MQTT"), 4, 0xc2, 0, 0) // 3.1.1, user name, password, clean; no keep-alive
	body = text(text(text(body, id), "bench"), password)
	if _, err := c.Write(append([]byte{0x10, byte(len(body))}, body...)); err != nil {
		return nil, err
	}
	answer := make([]byte, 4)
	if _, err := io.ReadFull(c, answer); err != nil || answer[0] != 0x20 || answer[3] != 0 {
		return nil, fmt.Errorf("CONNACK %x: %w", answer, err)
	}
	return &mqttConn{c: c, r: bufio.NewReaderSize(c, 64)}, nil
}

// publish sends a message at QoS 1 and waits until it is acknowledged.
func (c *mqttConn) publish(device int, buf []byte) ([]byte, error) {
	c.n++
	payload := fmt.Sprintf(`{"serial":%q,"temperature":%.2f,"ts":%d}`, serial(device), -18-float64(c.n%100)/50, time.Now().UnixMilli())
	const topic = "shop/sensor"
	buf = append(buf[:0], 0x32, byte(2+len(topic)+2+len(payload)), 0, byte(len(topic)))
	buf = append(append(buf, topic...), byte(c.n%60000>>8), byte(c.n%60000%256)|1)
	buf = append(buf, payload...)
	if _, err := c.c.Write(buf); err != nil {
		return buf, err
	}
	var ack [4]byte
	if _, err := io.ReadFull(c.r, ack[:]); err != nil || ack[0] != 0x40 {
		return buf, fmt.Errorf("PUBACK %x: %w", ack, err)
	}
	return buf, nil
}

// mqttLoad has every connection publish for a span: rate messages a second all
// together, 0 = as fast as they are acknowledged. What comes late counts from when
// it should have been sent.
func mqttLoad(s *server, conns []*mqttConn, span time.Duration, rate int) (result, error) {
	var total result
	var mu sync.Mutex
	var wg sync.WaitGroup
	var failed error
	began, cpu, own := time.Now(), s.cpu(), ownCPU()
	for i, c := range conns {
		wg.Go(func() {
			var times []time.Duration
			var buf []byte
			var err error
			every := time.Duration(0)
			if rate > 0 {
				every = time.Duration(len(conns)) * time.Second / time.Duration(rate)
			}
			due := began.Add(every * time.Duration(i) / time.Duration(len(conns)))
			for err == nil && time.Since(began) < span {
				from := time.Now()
				if every > 0 {
					time.Sleep(time.Until(due))
					from, due = due, due.Add(every)
				}
				if buf, err = c.publish(i, buf); err == nil {
					times = append(times, time.Since(from))
				}
			}
			mu.Lock()
			defer mu.Unlock()
			total.times = append(total.times, times...)
			if err != nil {
				failed = err
			}
		})
	}
	wg.Wait()
	total.elapsed, total.cpu, total.own = time.Since(began), s.cpu()-cpu, ownCPU()-own
	total.count = int64(len(total.times))
	slices.Sort(total.times)
	return total, failed
}
