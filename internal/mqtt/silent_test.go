package mqtt_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mochi-mqtt/server/v2/packets"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/mqtt"
	"github.com/rimewatch/rimewatch/internal/source"
)

// caller is a connection that comes from an address.
type caller struct {
	net.Conn
	from *net.TCPAddr
}

func (c caller) RemoteAddr() net.Addr { return c.from }

// gate is a listener that connections are handed to.
type gate struct{ one }

// open opens a connection from an address and returns the client's end.
func (g *gate) open(from string) net.Conn {
	client, server := net.Pipe()
	g.conn <- caller{server, net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(from), 1))}
	synctest.Wait()
	return client
}

// signsIn reports whether a connection is accepted as a device's.
func signsIn(t *testing.T, c net.Conn, id string) bool {
	t.Helper()
	var b bytes.Buffer
	pk := packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Connect}, ProtocolVersion: 4, Connect: packets.ConnectParams{ProtocolName: []byte("MQTT"), ClientIdentifier: id, Clean: true}}
	if err := pk.ConnectEncode(&b); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(b.Bytes()); err != nil {
		return false
	}
	answer := make([]byte, 4)
	_, err := io.ReadFull(c, answer)
	return err == nil && answer[0] == packets.Connack<<4 && answer[3] == 0
}

// TestSilentConnections: those who connect and say nothing keep no device out, whether they
// come from one address, the device's own, or many, and whether or not all places are taken; and
// they end soon. Devices that have signed in stay.
func TestSilentConnections(t *testing.T) {
	for name, c := range map[string]struct{ strangers, device string }{
		"another address":      {"192.0.2.1", "198.51.100.7"},
		"the same address":     {"192.0.2.1", "192.0.2.1"},
		"a network":            {"2001:db8::", "2001:db8:1::7"},
		"its own network":      {"2001:db8:1::", "2001:db8:1::7"},
		"addresses everywhere": {"", "198.51.100.7"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := mqtt.NewListener(mqtt.ListenerConfig{
					Receiver: new(sink), Connections: 50, Now: func() rimewatch.Time { return 1 },
					Open: func(context.Context, string, netip.Addr) (*source.Live, error) { return new(source.Live), nil },
				})
				g := &gate{one{make(chan net.Conn), make(chan struct{})}}
				go func() { _ = l.Serve(g) }()
				defer l.Stop(t.Context())
				for _, id := range []string{"a", "b"} {
					if !signsIn(t, g.open("203.0.113.9"), id) {
						t.Fatal("a device is not let in")
					}
				}
				from := netip.MustParseAddr("192.0.2.1")
				if c.strangers != "" {
					from = netip.MustParseAddr(c.strangers)
				}
				for i := range 200 {
					_ = g.open(from.String())
					if c.strangers == "" || from.Is6() && i < 100 {
						from = from.Next()
					}
				}
				if n := l.Counts.Connections.Load(); n > 2+5 {
					t.Errorf("%d connections, want those of the devices and a tenth of the places", n)
				}
				if !signsIn(t, g.open(c.device), "new") {
					t.Error("a new device is kept out")
				}
				time.Sleep(6 * time.Second)
				synctest.Wait()
				if n := l.Counts.Connections.Load(); n != 3 {
					t.Errorf("%d connections after six seconds, want those of the devices", n)
				}
			})
		})
	}
}
