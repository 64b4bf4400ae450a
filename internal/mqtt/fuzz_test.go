package mqtt_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"

	"github.com/mochi-mqtt/server/v2/packets"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/inlet"
	"github.com/rimewatch/rimewatch/internal/mqtt"
	"github.com/rimewatch/rimewatch/internal/source"
)

// sink counts what it is given.
type sink struct{ messages atomic.Int64 }

func (s *sink) ReceiveAll(_ context.Context, _ *source.Live, list []*inlet.Payload) ([]source.Result, error) {
	s.messages.Add(int64(len(list)))
	return make([]source.Result, len(list)), nil
}

// one is a listener of one connection, and then of none.
type one struct {
	conn chan net.Conn
	done chan struct{}
}

func (o *one) Accept() (net.Conn, error) {
	select {
	case c := <-o.conn:
		return c, nil
	case <-o.done:
		return nil, net.ErrClosed
	}
}
func (o *one) Close() error   { close(o.done); return nil }
func (o *one) Addr() net.Addr { return &net.TCPAddr{} }

// exchange sends bytes as a client does and returns what is answered.
func exchange(t *testing.T, raw []byte) (answer []byte, messages int64) {
	t.Helper()
	var got sink
	l := mqtt.NewListener(mqtt.ListenerConfig{
		Receiver: &got, Now: func() rimewatch.Time { return 1 },
		Open: func(context.Context, string, netip.Addr) (*source.Live, error) { return new(source.Live), nil },
	})
	on := &one{make(chan net.Conn, 1), make(chan struct{})}
	answers, theirs := net.Pipe()
	fromClient, toServer := io.Pipe()
	on.conn <- half{theirs, fromClient}
	served := make(chan error, 1)
	go func() { served <- l.Serve(on) }()
	go func() {
		_, _ = toServer.Write(raw) // fails where the other side has closed
		_ = toServer.Close()
	}()
	answer, _ = io.ReadAll(answers) // until the listener closes
	l.Stop(t.Context())
	if err := <-served; err != nil {
		t.Error(err)
	}
	return answer, got.messages.Load()
}

// half is a connection of which the client has closed its half when all was sent.
type half struct {
	net.Conn
	from *io.PipeReader
}

func (h half) Read(p []byte) (int, error) { return h.from.Read(p) }
func (h half) Close() error               { return errors.Join(h.from.Close(), h.Conn.Close()) }

// acknowledged counts the PUBACKs, PUBRECs in what a listener answered.
func acknowledged(t *testing.T, answer []byte) (n int64) {
	t.Helper()
	r := bytes.NewReader(answer)
	for r.Len() > 0 {
		head, _ := r.ReadByte()
		size, _, err := packets.DecodeLength(r)
		if err != nil || size > r.Len() {
			t.Fatalf("the listener's answer is no packet: %x", answer)
		}
		_, _ = r.Seek(int64(size), io.SeekCurrent)
		if kind := head >> 4; kind == packets.Puback || kind == packets.Pubrec {
			n++
		}
	}
	return n
}

// FuzzListener sends anything after a CONNECT: nothing ends the process, answers
// are packets, and nothing is acknowledged that was not handed on.
func FuzzListener(f *testing.F) {
	for version, connect := range map[byte]string{
		4: "\x10\x0f\x00\x04MQTT\x04\x02\x00<\x00\x03abc",
		5: "\x10\x10\x00\x04MQTT\x05\x02\x00<\x00\x00\x03abc",
	} {
		for _, list := range packets.TPacketData {
			for _, x := range list {
				if len(x.RawBytes) > 1000 || x.Packet == nil || (x.Packet.ProtocolVersion == 5) != (version == 5) {
					continue
				}
				f.Add([]byte(connect + string(x.RawBytes)))
				if n := len(x.RawBytes); n > 4 && n < 127 {
					cut := bytes.Clone(x.RawBytes[:n-1])
					cut[1] = byte(n - 3)
					f.Add([]byte(connect + string(cut)))
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		answer, messages := exchange(t, raw)
		if n := acknowledged(t, answer); n > messages+repeated(raw) {
			t.Errorf("%d acknowledgements of %d messages", n, messages)
		}
	})
}

// repeated is how many messages at QoS 2 may be acknowledged again.
func repeated(raw []byte) int64 {
	return int64(bytes.Count(raw, []byte{0x34}) + bytes.Count(raw, []byte{0x3c}) + bytes.Count(raw, []byte{0x35}) + bytes.Count(raw, []byte{0x3d}))
}

// TestTruncatedSubscribe is the packet that the codec panics at.
func TestTruncatedSubscribe(t *testing.T) {
	connect := "\x10\x10\x00\x04MQTT\x05\x02\x00<\x00\x00\x03abc"
	answer, _ := exchange(t, []byte(connect+"\x82\x06\x00\x01\x00\x00\x01a"))
	disconnect := []byte{packets.Disconnect << 4, 2, packets.ErrMalformedPacket.Code, 0}
	if answer[0]>>4 != packets.Connack || !bytes.HasSuffix(answer, disconnect) {
		t.Errorf("answered %x, want a CONNACK and %x", answer, disconnect)
	}
}
