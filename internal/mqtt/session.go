package mqtt

import (
	"cmp"
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mochi-mqtt/server/v2/packets"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/inlet"
	"github.com/rimewatch/rimewatch/internal/source"
)

// session is one connection of a device.
type session struct {
	*wire
	l          *Listener
	secret     string
	addr       netip.Addr
	silent     *list.Element // of Listener.silent; nil = it has signed in, or had to give way; under its mu
	source     *source.Live
	name       clientName
	client     string // the sender that the connection is of, "" = it has no name
	persistent bool
	entered    bool
	taken      atomic.Bool // another connection of the same client has come
	ended      chan struct{}
	memory     *memory
	keepAlive  time.Duration // 0 = the client promises nothing
	waiting    []*packets.Packet
}

// Bounds of a session.
const (
	connectWithin = 5 * time.Second
	tlsWithin     = 10 * time.Second // likewise, with the handshake of a small device
	maxClientID   = 256
	maxUnreleased = 1000 // messages at QoS 2
)

// closing is an error that ends a connection, with the reason that the client is
// told.
type closing struct{ code packets.Code }

func (e closing) Error() string { return e.code.Reason }

// serve serves a connection until it ends.
func (s *session) serve(ctx context.Context) {
	err := s.connect(ctx)
	for err == nil {
		err = s.next(ctx)
	}
	if flushed := s.store(ctx); flushed != nil {
		err = flushed
	}
	s.part(err)
}

func addrOf(a net.Addr) netip.Addr {
	p, _ := netip.ParseAddrPort(a.String())
	return p.Addr().Unmap()
}

// connect takes the client's CONNECT and answers it.
func (s *session) connect(ctx context.Context) error {
	within := connectWithin
	if _, encrypted := s.Conn.(*tls.Conn); encrypted {
		within = tlsWithin
	}
	if err := s.l.deadline(s, time.Now().Add(within)); err != nil {
		return err
	}
	if head, err := s.r.Peek(1); err != nil {
		return err
	} else if head[0] != packets.Connect<<4 { // such as HTTP
		return closing{packets.ErrProtocolViolationRequireFirstConnect}
	}
	pk, err := s.read()
	if err != nil {
		return err
	}
	if code := pk.ConnectValidate(); code != packets.CodeSuccess {
		if code == packets.ErrProtocolViolationProtocolVersion {
			return s.refuse(packets.ErrUnsupportedProtocolVersion)
		}
		return closing{code}
	}
	s.version = pk.ProtocolVersion
	answer := &packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Connack}}
	answer.Properties.MaximumPacketSize = maxPacket
	for _, p := range []*byte{&answer.Properties.WildcardSubAvailable, &answer.Properties.SubIDAvailable, &answer.Properties.SharedSubAvailable} {
		*p = 0
	}
	answer.Properties.WildcardSubAvailableFlag, answer.Properties.SubIDAvailableFlag, answer.Properties.SharedSubAvailableFlag = true, true, true
	answer.Properties.ReceiveMaximum = maxTogether
	id := pk.Connect.ClientIdentifier
	s.persistent = !pk.Connect.Clean
	if s.version == version5 {
		s.persistent = pk.Properties.SessionExpiryInterval > 0
	}
	switch {
	case len(id) > maxClientID, id == "" && s.version < version5 && !pk.Connect.Clean:
		return s.refuse(packets.ErrClientIdentifierNotValid)
	case id == "":
		id, s.persistent = "unnamed-"+s.RemoteAddr().String(), false
		answer.Properties.AssignedClientID = id
	}
	s.secret = cmp.Or(string(pk.Connect.Password), string(pk.Connect.Username))
	s.client = cmp.Or(pk.Connect.ClientIdentifier, string(pk.Connect.Username))
	if s.client == s.secret {
		s.client = ""
	}
	if s.source, err = s.l.cfg.Open(ctx, s.secret, s.addr); err != nil {
		return s.refuse(refusal(err))
	}
	s.name = clientName{s.source.ID(), s.source.Opener().TokenID, id}
	known, refused := s.l.enter(s, pk.Connect.Clean)
	if refused != packets.CodeSuccess {
		return s.refuse(refused)
	}
	answer.SessionPresent = known
	const grace = 3 // half as long again (3.1.2.10), in halves
	s.keepAlive = time.Duration(pk.Connect.Keepalive) * time.Second * grace / 2
	return errors.Join(s.put(answer), s.flush())
}

// refusal is the answer to a client whose secret does not open a source.
func refusal(err error) packets.Code {
	switch rimewatch.CodeOf(err) {
	case rimewatch.CodeUnauthenticated, rimewatch.CodeNotFound:
		return packets.ErrBadUsernameOrPassword
	case rimewatch.CodeForbidden:
		return packets.ErrNotAuthorized
	case rimewatch.CodeRateLimited:
		return packets.ErrConnectionRateExceeded
	default:
		return packets.ErrServerUnavailable
	}
}

// oldCodes are the return codes of MQTT 3.1.1 (table 3.1).
var oldCodes = map[byte]byte{
	packets.ErrUnsupportedProtocolVersion.Code: packets.Err3UnsupportedProtocolVersion.Code,
	packets.ErrClientIdentifierNotValid.Code:   packets.Err3ClientIdentifierNotValid.Code,
	packets.ErrServerUnavailable.Code:          packets.Err3ServerUnavailable.Code,
	packets.ErrQuotaExceeded.Code:              packets.Err3ServerUnavailable.Code,
	packets.ErrConnectionRateExceeded.Code:     packets.Err3ServerUnavailable.Code,
	packets.ErrBadUsernameOrPassword.Code:      packets.ErrMalformedUsernameOrPassword.Code,
	packets.ErrNotAuthorized.Code:              packets.Err3NotAuthorized.Code,
}

// errRefused ends a connection whose CONNECT was refused.
var errRefused = errors.New("refused")

// refuse answers a CONNECT that is not accepted.
func (s *session) refuse(code packets.Code) error {
	s.l.Counts.Refused.Add(1)
	answer := &packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Connack}, ReasonCode: code.Code}
	if s.version < version5 {
		answer.ReasonCode = oldCodes[code.Code]
	}
	return errors.Join(errRefused, s.put(answer), s.flush())
}

// next takes the next packet. Messages are collected as long as they need not be
// waited for.
func (s *session) next(ctx context.Context) error {
	if len(s.waiting) > 0 && (len(s.waiting) >= maxTogether || !s.more()) {
		if err := s.store(ctx); err != nil {
			return err
		}
	}
	var until time.Time
	if s.keepAlive > 0 {
		until = time.Now().Add(s.keepAlive)
	}
	if err := s.l.deadline(s, until); err != nil {
		return err
	}
	if _, err := s.r.Peek(1); err != nil {
		return err
	}
	if !s.more() {
		if err := s.l.deadline(s, time.Now().Add(patience)); err != nil {
			return err
		}
	}
	pk, err := s.read()
	if err != nil {
		return err
	}
	if pk.FixedHeader.Type == packets.Publish {
		return s.publish(pk)
	}
	if err := s.store(ctx); err != nil { // answers keep their order
		return err
	}
	if err := s.control(pk); err != nil {
		return err
	}
	return s.flush()
}

// publish takes a message.
func (s *session) publish(pk *packets.Packet) error {
	if strings.HasPrefix(pk.TopicName, "$") {
		return closing{packets.ErrTopicNameInvalid}
	}
	s.l.Counts.Messages.Add(1)
	if pk.FixedHeader.Qos == 2 && len(s.memory.got) >= maxUnreleased && !s.memory.got[pk.PacketID] {
		return closing{packets.ErrReceiveMaximum}
	}
	s.waiting = append(s.waiting, pk)
	return nil
}

// store stores the messages that wait, and acknowledges them when that is durable.
// A message at QoS 2 that is repeated before its PUBREL is not stored again
// (MQTT 3.1.1, 4.3.3): if the first waits too, both get its outcome.
func (s *session) store(ctx context.Context) error {
	if len(s.waiting) == 0 {
		return nil
	}
	waiting := s.waiting
	s.waiting = nil
	src, err := s.l.cfg.Open(ctx, s.secret, s.addr)
	if err != nil || src.ID() != s.source.ID() {
		return closing{refusal(err)}
	}
	codes := make([]packets.Code, len(waiting))
	var list []*inlet.Payload
	var at []int // their places in waiting
	first, repeats := make(map[uint16]int), make(map[int]int)
	for i, pk := range waiting {
		if pk.FixedHeader.Qos == 2 {
			if s.memory.got[pk.PacketID] {
				continue
			}
			if j, repeated := first[pk.PacketID]; repeated {
				repeats[i] = j
				continue
			}
			first[pk.PacketID] = i
		}
		p := payloadOf(pk)
		p.Client = s.client
		list, at = append(list, p), append(at, i)
	}
	if len(list) > 0 {
		results, err := s.l.cfg.Receiver.ReceiveAll(ctx, src, list)
		if err != nil {
			return closing{packets.ErrQuotaExceeded}
		}
		for i := range results {
			codes[at[i]] = codeOf(results[i].Err)
		}
	}
	for i, pk := range waiting {
		if j, repeated := repeats[i]; repeated {
			codes[i] = codes[j]
		}
		// Only MQTT 5 can refuse a message, which frees its packet id.
		if pk.FixedHeader.Qos == 2 && (s.version < version5 || codes[i].Code < packets.ErrUnspecifiedError.Code) {
			s.memory.got[pk.PacketID] = true
		}
		if err := s.ack(pk, codes[i].Code); err != nil {
			return err
		}
	}
	return s.flush()
}

// codeOf is the answer to a message that cannot be stored; it does not
// send it again.
func codeOf(err error) packets.Code {
	switch rimewatch.CodeOf(err) {
	case "":
		return packets.CodeSuccess
	case rimewatch.CodeHeldFull:
		return packets.ErrQuotaExceeded
	case rimewatch.CodeInvalidJSON:
		return packets.ErrPayloadFormatInvalid
	default:
		return packets.ErrImplementationSpecificError
	}
}

// control takes packets other than messages.
func (s *session) control(pk *packets.Packet) error {
	answer := &packets.Packet{PacketID: pk.PacketID}
	switch pk.FixedHeader.Type {
	case packets.Pubrel:
		delete(s.memory.got, pk.PacketID)
		answer.FixedHeader.Type = packets.Pubcomp
	case packets.Pingreq:
		answer.FixedHeader.Type = packets.Pingresp
	case packets.Subscribe:
		answer.FixedHeader.Type = packets.Suback
		for _, f := range pk.Filters {
			answer.ReasonCodes = append(answer.ReasonCodes, s.subscribed(f.Filter))
		}
		if len(pk.Filters) == 0 {
			return closing{packets.ErrProtocolViolationNoFilters}
		}
	case packets.Unsubscribe:
		answer.FixedHeader.Type = packets.Unsuback
		answer.ReasonCodes = make([]byte, len(pk.Filters))
	case packets.Disconnect:
		return net.ErrClosed
	default:
		return closing{packets.ErrProtocolViolation}
	}
	return s.put(answer)
}

// subscribed returns the answer to a subscription: nothing is delivered, but
// firmware that waits for commands starts. What would see others is refused.
func (s *session) subscribed(filter string) byte {
	first, _, _ := strings.Cut(filter, "/")
	if rimewatch.ValidTopicFilter(filter) && first != "#" && first != "+" && !strings.HasPrefix(first, "$") {
		return packets.CodeGrantedQos0.Code
	}
	if s.version < version5 {
		return packets.ErrUnspecifiedError.Code // the only one of MQTT 3.1.1
	}
	return packets.ErrNotAuthorized.Code
}

// part ends a connection and, with MQTT 5, sends the reason.
func (s *session) part(err error) {
	code := packets.CodeSuccess
	var reason closing
	switch {
	case errors.As(err, &reason):
		code = reason.code
	case errors.Is(err, errMalformed):
		code = packets.ErrMalformedPacket
	case errors.Is(err, errTooLarge):
		code = packets.ErrPacketTooLarge
	case errors.Is(err, errRefused):
		return
	case s.taken.Load():
		code = packets.ErrSessionTakenOver
	case s.l.stopped():
		code = packets.ErrServerShuttingDown
	case errors.Is(err, os.ErrDeadlineExceeded):
		code = packets.ErrKeepAliveTimeout
	}
	if code == packets.ErrMalformedPacket || code.Code == packets.ErrProtocolViolation.Code {
		s.l.Counts.Malformed.Add(1)
	}
	if code == packets.CodeSuccess || s.version < version5 || !s.entered {
		return
	}
	pk := &packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Disconnect}, ReasonCode: code.Code}
	if s.put(pk) == nil {
		_ = s.flush()
	}
}
