package app_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/mochi-mqtt/server/v2/packets"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/trial"
)

// thing is a device that speaks MQTT, packet by packet.
type thing struct {
	net.Conn
	t *testing.T
	r *bufio.Reader
	v byte
}

func listening(c *app.Config) { c.MQTTListen = "127.0.0.1:0" }

func (h *house) thing(version byte) *thing {
	h.t.Helper()
	c, err := net.Dial("tcp", h.MQTTAddr())
	h.must(err)
	return newThing(h.t, c, version)
}

func newThing(t *testing.T, c net.Conn, version byte) *thing {
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return &thing{c, t, bufio.NewReader(c), version}
}

func (d *thing) must(err error) {
	if err != nil {
		d.t.Helper()
		d.t.Fatal(err)
	}
}

// sendAll sends packets in one go.
func (d *thing) sendAll(list ...*packets.Packet) {
	d.t.Helper()
	var b bytes.Buffer
	for _, pk := range list {
		pk.ProtocolVersion = d.v
		switch pk.FixedHeader.Type {
		case packets.Connect:
			d.must(pk.ConnectEncode(&b))
		case packets.Publish:
			d.must(pk.PublishEncode(&b))
		case packets.Pubrel:
			d.must(pk.PubrelEncode(&b))
		case packets.Subscribe:
			d.must(pk.SubscribeEncode(&b))
		case packets.Pingreq:
			d.must(pk.PingreqEncode(&b))
		}
	}
	_, err := d.Write(b.Bytes())
	d.must(err)
}

// next reads a packet; nil when the server has closed the connection.
func (d *thing) next() *packets.Packet {
	d.t.Helper()
	head, err := d.r.ReadByte()
	if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || err != nil && strings.Contains(err.Error(), "reset") {
		return nil
	}
	d.must(err)
	pk := &packets.Packet{ProtocolVersion: d.v}
	d.must(pk.FixedHeader.Decode(head))
	n, _, err := packets.DecodeLength(d.r)
	d.must(err)
	pk.FixedHeader.Remaining = n
	body := make([]byte, n)
	_, err = io.ReadFull(d.r, body)
	d.must(err)
	switch pk.FixedHeader.Type {
	case packets.Connack:
		d.must(pk.ConnackDecode(body))
	case packets.Puback, packets.Pubrec, packets.Pubcomp:
		d.must(pk.PubackDecode(body))
	case packets.Suback:
		d.must(pk.SubackDecode(body))
	case packets.Disconnect:
		d.must(pk.DisconnectDecode(body))
	}
	return pk
}

func (d *thing) expect(kind byte, id uint16, code byte) *packets.Packet {
	d.t.Helper()
	pk := d.next()
	if pk == nil || pk.FixedHeader.Type != kind || pk.PacketID != id || pk.ReasonCode != code {
		d.t.Fatalf("came %+v, want %s %d with %#x", pk, packets.PacketNames[kind], id, code)
	}
	return pk
}

func (d *thing) gone() {
	d.t.Helper()
	if pk := d.next(); pk != nil && (pk.FixedHeader.Type != packets.Disconnect || d.next() != nil) {
		d.t.Fatalf("came %+v, want the end of the connection", pk)
	}
}

func (d *thing) connect(id, password string, clean bool) *packets.Packet {
	d.t.Helper()
	pk := &packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Connect}, Connect: packets.ConnectParams{
		ProtocolName: []byte("MQTT"), ClientIdentifier: id, Clean: clean, Keepalive: 3600, UsernameFlag: true, Username: []byte("any"), PasswordFlag: password != "", Password: []byte(password)}}
	if d.v == 5 && !clean {
		pk.Properties.SessionExpiryInterval, pk.Properties.SessionExpiryIntervalFlag = 600, true
	}
	d.sendAll(pk)
	return d.next()
}

func publication(qos byte, id uint16, topic, payload string) *packets.Packet {
	return &packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Publish, Qos: qos}, PacketID: id, TopicName: topic, Payload: []byte(payload)}
}

func timed(at time.Time, temp float64) string {
	return fmt.Sprintf(`{"temperature":%g,"last_seen":%q,"linquality":1,"time":%q}`, temp, at.Format(time.RFC3339Nano), at.Format(time.RFC3339Nano))
}

func (h *house) count(serial string) int {
	h.t.Helper()
	return len(h.call("GET", "/devices/"+serial+"/readings?per_page=10000", "")["readings"].([]any))
}

// TestMQTTListener: what was acknowledged is there, at each quality of service and
// in each version of the protocol.
func TestMQTTListener(t *testing.T) {
	h := newHouse(t, listening)
	_, key := h.newSource(`{"name":"mqtt","on_unknown":"register"}`)
	now := time.Now().UTC().Truncate(time.Millisecond).Add(-time.Hour)
	for _, version := range []byte{4, 5} {
		serial := fmt.Sprintf("v%d", version)
		d := h.thing(version)
		if a := d.connect("probe "+serial, key, false); a == nil || a.ReasonCode != 0 || a.SessionPresent {
			t.Fatalf("version %d: %+v", version, a)
		}
		var burst []*packets.Packet
		for i := range 250 {
			burst = append(burst, publication(1, uint16(i+1), serial, timed(now.Add(time.Duration(i)*time.Second), -18)))
		}
		d.sendAll(append(burst, &packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Pingreq}})...)
		for i := range 250 {
			d.expect(packets.Puback, uint16(i+1), 0)
		}
		if got := h.count(serial); got != 250 {
			t.Fatalf("%d readings after 250 acknowledgements", got)
		}
		d.expect(packets.Pingresp, 0, 0)
		// At QoS 2 a message without a time is stored once, although its PUBREC was lost.
		d.sendAll(publication(2, 7, serial, `{"temperature":-17}`))
		d.expect(packets.Pubrec, 7, 0)
		d.must(d.Close())
		d = h.thing(version)
		if a := d.connect("probe "+serial, key, false); a == nil || !a.SessionPresent {
			t.Fatalf("again: %+v", a)
		}
		d.sendAll(publication(2, 7, serial, `{"temperature":-17}`))
		d.expect(packets.Pubrec, 7, 0)
		d.sendAll(&packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Pubrel, Qos: 1}, PacketID: 7})
		d.expect(packets.Pubcomp, 7, 0)
		if got := h.count(serial); got != 251 {
			t.Errorf("%d readings, want 251", got)
		}
		// A message that nobody can read waits with its text and is acknowledged, for it
		// would come for ever.
		d.sendAll(publication(1, 8, serial, `{"temperature":`+strings.Repeat(" ", 100)), publication(0, 0, serial, `{"temperature":-16}`), publication(1, 9, serial, `{"temperature":-15}`))
		d.expect(packets.Puback, 8, 0)
		d.expect(packets.Puback, 9, 0)
		if got := h.latest(serial); got != -15 || h.count(serial) != 253 {
			t.Errorf("latest %v of %d", got, h.count(serial))
		}
	}
}

// TestMQTTRepeated: a message at QoS 2 that is sent again before its PUBREL is
// stored once, whether the first waits still or has been stored; after the PUBREL
// its packet id is that of a new message.
func TestMQTTRepeated(t *testing.T) {
	h := newHouse(t, listening)
	_, key := h.newSource(`{"name":"mqtt","on_unknown":"register"}`)
	released := func(id uint16) *packets.Packet {
		return &packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Pubrel, Qos: 1}, PacketID: id}
	}
	for i, version := range []byte{4, 4, 5, 5} {
		clean := i%2 == 0
		serial := fmt.Sprintf("v%d-%t", version, clean)
		message := func(id uint16, temp float64) *packets.Packet {
			return publication(2, id, serial, fmt.Sprintf(`{"temperature":%g}`, temp))
		}
		again := message(9, -17)
		again.FixedHeader.Dup = true
		d := h.thing(version)
		d.connect("probe "+serial, key, clean)
		d.sendAll(message(9, -17), again, message(10, -18), released(9))
		d.expect(packets.Pubrec, 9, 0)
		d.expect(packets.Pubrec, 9, 0)
		d.expect(packets.Pubrec, 10, 0)
		d.expect(packets.Pubcomp, 9, 0)
		if got := h.count(serial); got != 2 {
			t.Errorf("version %d, clean %t: %d readings of two messages", version, clean, got)
		}
		d.sendAll(message(9, -16)) // a new one
		d.expect(packets.Pubrec, 9, 0)
		again = message(9, -16)
		again.FixedHeader.Dup = true
		d.sendAll(again, released(9))
		d.expect(packets.Pubrec, 9, 0)
		d.expect(packets.Pubcomp, 9, 0)
		if got := h.count(serial); got != 3 || h.latest(serial) != -16 {
			t.Errorf("version %d, clean %t: %d readings of three messages, the latest %v", version, clean, got, h.latest(serial))
		}
		// Unreadable messages share their outcome too.
		d.sendAll(publication(2, 11, serial, `{"temperature":`), publication(2, 11, serial, `{"temperature":`))
		d.expect(packets.Pubrec, 11, 0)
		d.expect(packets.Pubrec, 11, 0)
	}
}

// TestMQTTRefused: what a listener that only takes in does not do, and who may not
// what.
func TestMQTTRefused(t *testing.T) {
	h := newHouse(t, listening)
	id, key := h.newSource(`{"name":"one"}`)
	_, other := h.newSource(`{"name":"two"}`)
	for _, c := range []struct {
		version  byte
		password string
		want     byte
	}{{4, "in_wrong", 4}, {5, "in_wrong", 0x86}, {5, h.owner.Secret, 0x86}, {4, h.token, 0}, {5, key, 0}} {
		if a := h.thing(c.version).connect("x", c.password, true); a == nil || a.ReasonCode != c.want {
			t.Errorf("version %d, %.9s…: %+v, want %#x", c.version, c.password, a, c.want)
		}
	}
	d := h.thing(4)
	d.connect("a", key, true)
	subscribe := &packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Subscribe, Qos: 1}, PacketID: 3}
	for _, f := range []string{"#", "$SYS/#", "+/x", "$share/g/x", "cmnd/plug/#", "a/#/b"} {
		subscribe.Filters = append(subscribe.Filters, packets.Subscription{Filter: f, Qos: 1})
	}
	d.sendAll(subscribe)
	if got := d.next().ReasonCodes; !bytes.Equal(got, []byte{0x80, 0x80, 0x80, 0x80, 0, 0x80}) {
		t.Errorf("subscriptions: %x", got)
	}
	d.sendAll(publication(1, 1, "$SYS/x", `{"temperature":1}`))
	d.gone()

	// The same client of the same source takes over; one of another source does not.
	first, stranger, second := h.thing(5), h.thing(5), h.thing(5)
	first.connect("same", key, true)
	stranger.connect("same", other, true)
	first.sendAll(publication(1, 1, "t", `{"temperature":1}`))
	first.expect(packets.Puback, 1, 0)
	second.connect("same", key, true)
	if pk := first.next(); pk == nil || pk.FixedHeader.Type != packets.Disconnect || pk.ReasonCode != packets.ErrSessionTakenOver.Code {
		t.Errorf("taken over: %+v", pk)
	}
	stranger.sendAll(publication(1, 1, "t", `{"temperature":1}`))
	stranger.expect(packets.Puback, 1, 0)

	// A key that was changed is worth nothing from now on, also on open connections.
	h.asOwner("PATCH", fmt.Sprintf("/sources/%d", id), `{"rotate_key":true}`, http.StatusOK)
	second.sendAll(publication(1, 2, "t", `{"temperature":1}`))
	if pk := second.next(); pk == nil || pk.FixedHeader.Type != packets.Disconnect {
		t.Errorf("with the old key: %+v", pk)
	}
	// Not MQTT, and no CONNECT first.
	for _, text := range []string{"GET / HTTP/1.1\r\n\r\n", "\xc0\x00", "\x82\xff\xff\xff\xff\x7f", "\x10\xff\xff\xff\x7f"} {
		d := h.thing(4)
		_, err := d.Write([]byte(text))
		d.must(err)
		d.gone()
	}
}

// TestMQTTTruncated sends every packet cut off at every byte, and with any byte
// changed: the service stays, and takes in what comes next.
func TestMQTTTruncated(t *testing.T) {
	h := newHouse(t, listening, func(c *app.Config) { c.AuthRateLimit = 0 })
	_, key := h.newSource(`{"name":"one","on_unknown":"register"}`)
	for _, c := range packets.TPacketData {
		for _, one := range c {
			if len(one.RawBytes) < 2 || len(one.RawBytes) > 200 {
				continue
			}
			for cut := 2; cut < len(one.RawBytes); cut += 3 {
				version := byte(4)
				if one.Packet != nil && one.Packet.ProtocolVersion == 5 {
					version = 5
				}
				d := h.thing(version)
				d.connect("x", key, true)
				raw := bytes.Clone(one.RawBytes[:cut])
				raw[1] = byte(max(len(raw)-2, 0)) // whole, as far as its length says
				_, _ = d.Write(raw)
				d.must(d.Close())
			}
		}
	}
	d := h.thing(5)
	d.connect("x", key, true)
	d.sendAll(publication(1, 1, "alive", `{"temperature":3}`))
	d.expect(packets.Puback, 1, 0)
	if h.latest("alive") != 3 {
		t.Error("not stored")
	}
}

// TestMQTTOverTLS: a real client, of both versions, with and without TLS.
func TestMQTTOverTLS(t *testing.T) {
	trial.NeedsAll(t)
	cert, private := certificate(t)
	h := newHouse(t, listening, func(c *app.Config) { c.MQTTSListen, c.TLSCert, c.TLSKey = "127.0.0.1:0", cert, private })
	key, err := h.Sources.Create(t.Context(), &rimewatch.Source{WorkspaceID: h.workspace(), Kind: rimewatch.SourcePush, Name: "tls", OnUnknown: rimewatch.RegisterUnknown, Enabled: true})
	h.must(err)
	c, err := tls.Dial("tcp", h.MQTTSAddr(), &tls.Config{InsecureSkipVerify: true})
	h.must(err)
	d := newThing(t, c, 5)
	if a := d.connect("x", key, true); a == nil || a.ReasonCode != 0 {
		t.Fatalf("%+v", a)
	}
	client := command(t, "mosquitto_pub", "mosquitto-clients")
	for i, version := range []string{"mqttv31", "mqttv311", "mqttv5"} {
		for qos := range 3 {
			args := []string{"-V", version, "-q", fmt.Sprint(qos), "-u", "x", "-P", key, "-t", "shop/" + version, "-m", fmt.Sprintf(`{"temperature":%d}`, 10*i+qos), "-h", "127.0.0.1"}
			host, secure := h.MQTTAddr(), []string(nil)
			if qos == 1 {
				host, secure = h.MQTTSAddr(), []string{"--cafile", cert}
			}
			_, port, _ := net.SplitHostPort(host)
			if out, err := exec.CommandContext(t.Context(), client, append(append(args, "-p", port), secure...)...).CombinedOutput(); err != nil {
				t.Errorf("%v: %v %s", args, err, out)
			}
		}
		h.eventually(func() error {
			if n := h.count("shop-" + version); n != 3 { // at QoS 0 nobody waits
				return fmt.Errorf("%d readings, want 3", n)
			}
			return nil
		})
	}
}

// command finds a program that tests need.
func command(t *testing.T, name, debian string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if path, err = exec.LookPath("/usr/sbin/" + name); err != nil {
			t.Fatalf("this test needs %s: apt-get install %s", name, debian)
		}
	}
	return path
}

// eventually waits until something that others do is so.
func (h *house) eventually(check func() error) {
	h.t.Helper()
	end := time.Now().Add(patience)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			h.t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
