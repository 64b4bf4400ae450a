package mqtt

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mochi-mqtt/server/v2/packets"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/inlet"
	"github.com/rimewatch/rimewatch/internal/notify/outbound"
	"github.com/rimewatch/rimewatch/internal/source"
)

// keepAlive is how long a connection to a broker may be silent.
const keepAlive = 30 * time.Second

// link is the connection of one source to its broker. It speaks MQTT 3.1.1, which
// every broker knows, with a session that the broker keeps.
type link struct {
	b      *Brokers
	source rimewatch.Source
	stop   context.CancelFunc
	ended  chan struct{}
	gone   atomic.Bool // the source no longer publishes what it published

	mu    sync.Mutex
	state source.BrokerState
}

// address takes a broker's URL apart.
func address(raw string) (host, port string, secure bool) {
	u, err := url.Parse(raw)
	if err != nil {
		return "", "", false // it was checked before it was stored
	}
	host, port, secure = u.Hostname(), u.Port(), u.Scheme == "mqtts"
	switch {
	case port != "":
	case secure:
		port = "8883"
	default:
		port = "1883"
	}
	return host, port, secure
}

func base36(n int64) string { return strconv.FormatInt(n, 36) }

// Refused is a broker's no to a connection (MQTT 3.1.1, table 3.1).
type Refused struct{ Code byte }

func (e *Refused) Error() string { return e.sentence().String() }

func (e *Refused) sentence() rimewatch.Sentence {
	switch e.Code {
	case 1:
		return rimewatch.Sentencef("The broker does not speak MQTT 3.1.1.")
	case 2:
		return rimewatch.Sentencef("The broker does not accept the client ID.")
	case 3:
		return rimewatch.Sentencef("The broker is not available.")
	case 4:
		return rimewatch.Sentencef("The broker does not accept the user name or the password.")
	case 5:
		return rimewatch.Sentencef("The broker does not allow this user to connect.")
	default:
		return rimewatch.Sentencef("The broker refuses the connection (%d).", e.Code)
	}
}

// notBroker is the error of a server that does not answer as a broker.
type notBroker struct{ err error }

func (e notBroker) Error() string {
	return "the server there is not an MQTT broker: " + e.err.Error()
}

// connection is one connection from dialling to its end. It reports whether it
// worked.
func (k *link) connection(ctx context.Context) (worked bool, err error) {
	conn, err := k.dial(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	// Reading ends with ctx.
	defer context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })()
	w := &uplink{k: k, wire: newWire(conn, version311), home: newHome(&k.source)}
	w.skips = true
	if w.source, err = k.b.cfg.Sources.ByID(ctx, k.source.WorkspaceID, k.source.ID); err != nil {
		return false, err
	}
	if err := w.connect(ctx); err != nil {
		return false, err
	}
	for err == nil && ctx.Err() == nil {
		err = w.next(ctx)
	}
	if ctx.Err() != nil {
		if k.gone.Load() {
			_ = w.retract() // as well as it can be
		}
		return true, ctx.Err()
	}
	return w.subscribed, err
}

// uplink is one connection to a broker.
type uplink struct {
	*wire
	k          *link
	source     *source.Live
	home       *home     // nil = the broker gets none of our devices
	sent       time.Time // when something was sent last
	asked      bool      // a PINGREQ is not answered yet
	subscribed bool
	waiting    []*packets.Packet
}

// connect signs in and subscribes.
func (w *uplink) connect(ctx context.Context) error {
	s := &w.k.source
	pk := &packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Connect}}
	pk.Connect = packets.ConnectParams{
		ProtocolName: []byte("MQTT"), ClientIdentifier: clientID(s), Keepalive: uint16(keepAlive / time.Second),
		Username: []byte(s.Broker.Username), UsernameFlag: s.Broker.Username != "", Password: []byte(s.Broker.Password),
		PasswordFlag: s.Broker.Username != "" && s.Broker.Password != "", // one without the other is not allowed
	}
	if w.home != nil { // the broker says when we are gone
		c := &pk.Connect
		c.WillFlag, c.WillRetain, c.WillTopic, c.WillPayload = true, true, w.home.availability(), []byte("offline")
	}
	if err := w.send(pk); err != nil {
		return err
	}
	if err := w.until(ctx, patience); err != nil {
		return err
	}
	head, err := w.r.Peek(1)
	switch {
	case err != nil:
		return err
	case head[0] != packets.Connack<<4: // such as HTTP
		return notBroker{packets.ErrProtocolViolation}
	}
	answer, err := w.read()
	switch {
	case errors.Is(err, errMalformed), errors.Is(err, errTooLarge):
		return notBroker{err}
	case err != nil:
		return err
	case answer.ReasonCode != 0:
		return &Refused{answer.ReasonCode}
	}
	ask := &packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Subscribe, Qos: 1}, PacketID: 1}
	for _, t := range s.Broker.Topics {
		ask.Filters = append(ask.Filters, packets.Subscription{Filter: t, Qos: 1})
	}
	if w.home != nil {
		ask.Filters = append(ask.Filters, packets.Subscription{Filter: w.home.config("+")})
	}
	return w.send(ask)
}

// until sets how long the next read may take, unless ctx has ended.
func (w *uplink) until(ctx context.Context, d time.Duration) error {
	if err := w.SetReadDeadline(time.Now().Add(d)); err != nil {
		return err
	}
	return ctx.Err()
}

func (w *uplink) send(pk *packets.Packet) error {
	if err := w.put(pk); err != nil {
		return err
	}
	return w.push()
}

// push sends the bytes that were put.
func (w *uplink) push() error {
	if w.out.Len() > 0 {
		w.sent = time.Now()
	}
	return w.flush()
}

// next takes the next packet, or asks the broker whether it is still there.
func (w *uplink) next(ctx context.Context) error {
	if len(w.waiting) > 0 && (len(w.waiting) >= maxTogether || !w.more()) {
		if err := w.store(w.k.b.hard); err != nil {
			return err
		}
	}
	if time.Since(w.sent) > keepAlive/2 {
		w.asked = true
		if err := w.send(&packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Pingreq}}); err != nil {
			return err
		}
	}
	if err := w.announce(ctx); err != nil {
		return err
	}
	wait := keepAlive / 2
	if w.home != nil {
		wait = announceEvery
	}
	if err := w.until(ctx, wait); err != nil {
		return err
	}
	if _, err := w.r.Peek(1); err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) && !w.asked {
			return nil
		}
		return err
	}
	if err := w.until(ctx, patience); err != nil {
		return err
	}
	pk, err := w.read()
	if pk != nil && errors.Is(err, errTooLarge) {
		return w.leaveOut(pk)
	}
	if err != nil {
		return err
	}
	w.asked = false
	switch pk.FixedHeader.Type {
	case packets.Publish:
		if w.home.own(pk) {
			return w.acknowledge(pk)
		}
		w.waiting = append(w.waiting, pk)
	case packets.Suback:
		w.subscribed = true
		w.k.connected(w.refusedTopics(pk.ReasonCodes))
	case packets.Pubrel:
		return w.send(&packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Pubcomp}, PacketID: pk.PacketID})
	case packets.Pingresp:
	default:
		return notBroker{packets.ErrProtocolViolation}
	}
	return nil
}

// leaveOut acknowledges a message that is too large to be read, behind those that
// came before it.
func (w *uplink) leaveOut(pk *packets.Packet) error {
	if len(w.waiting) > 0 {
		if err := w.store(w.k.b.hard); err != nil {
			return err
		}
	}
	w.k.leftOut(pk.TopicName)
	return w.acknowledge(pk)
}

func (w *uplink) acknowledge(pk *packets.Packet) error {
	if err := w.ack(pk, packets.CodeSuccess.Code); err != nil {
		return err
	}
	return w.push()
}

// refusedTopics returns the topics that the broker does not let us subscribe to.
func (w *uplink) refusedTopics(codes []byte) string {
	var refused []string
	for i, t := range w.k.source.Broker.Topics {
		if i < len(codes) && codes[i] >= packets.ErrUnspecifiedError.Code {
			refused = append(refused, t)
		}
	}
	if len(refused) == 0 {
		return ""
	}
	return rimewatch.Sentencef("The broker does not allow subscribing to %s.", strings.Join(refused, ", ")).Stored()
}

// errNotStored ends a connection whose messages could not be stored: the broker
// sends them again.
var errNotStored = errors.New("messages cannot be stored at the moment")

// store stores the messages that wait and acknowledges them when that is durable.
func (w *uplink) store(ctx context.Context) (err error) {
	waiting := w.waiting
	w.waiting = nil
	if w.source, err = w.k.b.cfg.Sources.Fresh(ctx, w.source); err != nil {
		return err
	}
	list := make([]*inlet.Payload, len(waiting))
	for i, pk := range waiting {
		list[i] = payloadOf(pk)
		list[i].Retained = pk.FixedHeader.Retain
	}
	if _, err := w.k.b.cfg.Sources.ReceiveAll(ctx, w.source, list); err != nil {
		return fmt.Errorf("%w: %w", errNotStored, err)
	}
	w.k.received(len(waiting))
	for _, pk := range waiting {
		if err := w.ack(pk, packets.CodeSuccess.Code); err != nil {
			return err
		}
	}
	return w.push()
}

// errHandshake is that of TLS.
var errHandshake = errors.New("TLS handshake")

// explain returns in words why a broker is not connected.
func explain(err error) rimewatch.Sentence {
	var refused *Refused
	var not notBroker
	var address *outbound.Refused
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &refused):
		return refused.sentence()
	case errors.As(err, &not):
		return rimewatch.Sentencef("The server there is not an MQTT broker: %s.", not.err.Error())
	case errors.Is(err, errNotStored):
		return rimewatch.Sentencef("Messages cannot be stored at the moment; the broker keeps them.")
	case errors.Is(err, errMalformed), errors.Is(err, errTooLarge):
		return rimewatch.Sentencef("The broker sent something that cannot be read: %s.", err)
	case errors.As(err, &address):
		// Not which: that would reveal what the operator's name servers know.
		return rimewatch.Sentencef("The broker's address is not public. The operator can allow it with --outbound-allow.")
	case errors.As(err, &cert):
		return rimewatch.Sentencef("The broker's certificate is not valid: %s.", cert.Err)
	case errors.As(err, &record), errors.Is(err, errHandshake) && closedByOther(err):
		return rimewatch.Sentencef("The server there does not speak TLS: use mqtt:// or another port.")
	case errors.As(err, &dns):
		return rimewatch.Sentencef("The broker's name %s does not resolve.", dns.Name)
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return rimewatch.Sentencef("The broker did not answer in time.")
	case closedByOther(err):
		return rimewatch.Sentencef("The broker closed the connection.")
	case errors.As(err, &op):
		return rimewatch.Sentencef("The broker cannot be reached: %s.", outbound.Reason(op.Err))
	default:
		return rimewatch.Sentencef("The broker is not connected: %s.", err)
	}
}

func closedByOther(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
}
