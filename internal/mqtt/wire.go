package mqtt

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/mochi-mqtt/server/v2/packets"

	"github.com/rimewatch/rimewatch/internal/inlet"
)

// Versions of the protocol.
const (
	version31  = 3
	version311 = 4
	version5   = 5
)

// Bounds of a connection.
const (
	maxTopic  = 1 << 10                            // bytes
	maxPacket = inlet.MaxPayload + maxTopic + 4096 // bytes; the rest is for properties
	readAhead = 2 << 10                            // bytes; 10,000 idle connections share 400 MB
	// maxTogether is how many messages of one connection are stored in one step.
	maxTogether = 100
	// patience is how long a packet may take that has begun, in either direction.
	patience = 20 * time.Second
)

var (
	errMalformed = errors.New("malformed packet")
	errTooLarge  = fmt.Errorf("packet larger than %d bytes", maxPacket)
)

// wire reads and writes the packets of one connection. It belongs to one
// goroutine.
type wire struct {
	net.Conn
	version byte
	skips   bool // messages that are too large are read past
	r       *bufio.Reader
	out     bytes.Buffer
}

func newWire(c net.Conn, version byte) *wire {
	return &wire{Conn: c, version: version, r: bufio.NewReaderSize(c, readAhead)}
}

// more reports whether a whole packet has been read already, so that reading it
// does not wait.
func (w *wire) more() bool {
	ahead, _ := w.r.Peek(w.r.Buffered())
	if len(ahead) < 2 {
		return false
	}
	n, used, err := remaining(bytes.NewReader(ahead[1:]))
	return err == nil && len(ahead) >= 1+used+n
}

// remaining reads a packet's remaining length (MQTT 5, 1.5.5).
func remaining(r io.ByteReader) (n, used int, err error) {
	for shift := 0; shift < 28; shift += 7 {
		b, err := r.ReadByte()
		if err != nil {
			return 0, used, err
		}
		used++
		n |= int(b&0x7f) << shift
		if b < 0x80 {
			return n, used, nil
		}
	}
	return 0, used, errMalformed
}

// read returns the next packet: errMalformed, errTooLarge, or an error of the
// connection.
func (w *wire) read() (*packets.Packet, error) {
	head, err := w.r.ReadByte()
	if err != nil {
		return nil, err
	}
	n, _, err := remaining(w.r)
	if err != nil {
		return nil, err
	}
	if n > maxPacket {
		return w.tooLarge(head, n)
	}
	// The buffer grows with what has come, not with what was announced.
	var body bytes.Buffer
	if n <= readAhead {
		body.Grow(n)
	}
	if _, err := io.CopyN(&body, w.r, int64(n)); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	pk := &packets.Packet{ProtocolVersion: w.version}
	pk.FixedHeader.Remaining = n
	if err := pk.FixedHeader.Decode(head); err != nil {
		return nil, fmt.Errorf("%w: %w", errMalformed, err)
	}
	return pk, decode(pk, body.Bytes())
}

// tooLarge reads past a message of n bytes where that is wanted, and returns it
// without its payload beside errTooLarge, so that it can be acknowledged: its
// sender would send it again for ever.
func (w *wire) tooLarge(head byte, n int) (*packets.Packet, error) {
	pk := &packets.Packet{ProtocolVersion: w.version}
	if err := pk.FixedHeader.Decode(head); err != nil || !w.skips || pk.FixedHeader.Type != packets.Publish {
		return nil, errTooLarge
	}
	var length [2]byte
	if _, err := io.ReadFull(w.r, length[:]); err != nil {
		return nil, err
	}
	topic := make([]byte, int(length[0])<<8|int(length[1]))
	if _, err := io.ReadFull(w.r, topic); err != nil {
		return nil, err
	}
	pk.TopicName = strings.ToValidUTF8(string(topic), "")
	n -= len(length) + len(topic)
	if pk.FixedHeader.Qos > 0 {
		if _, err := io.ReadFull(w.r, length[:]); err != nil {
			return nil, err
		}
		pk.PacketID = uint16(length[0])<<8 | uint16(length[1])
		n -= len(length)
	}
	for n > 0 {
		if err := w.SetReadDeadline(time.Now().Add(patience)); err != nil {
			return nil, err
		}
		piece, err := w.r.Discard(min(n, inlet.MaxPayload))
		if err != nil {
			return nil, err
		}
		n -= piece
	}
	return pk, errTooLarge
}

// decode reads the body of a packet: errMalformed.
func decode(pk *packets.Packet, body []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errMalformed, p)
		} else if err != nil {
			err = fmt.Errorf("%w: %w", errMalformed, err)
		}
	}()
	switch pk.FixedHeader.Type {
	case packets.Connect:
		return pk.ConnectDecode(body)
	case packets.Connack:
		return pk.ConnackDecode(body)
	case packets.Publish:
		return decodePublish(pk, body)
	case packets.Puback:
		return pk.PubackDecode(body)
	case packets.Pubrec:
		return pk.PubrecDecode(body)
	case packets.Pubrel:
		return pk.PubrelDecode(body)
	case packets.Pubcomp:
		return pk.PubcompDecode(body)
	case packets.Subscribe:
		return pk.SubscribeDecode(body)
	case packets.Suback:
		return pk.SubackDecode(body)
	case packets.Unsubscribe:
		return pk.UnsubscribeDecode(body)
	case packets.Unsuback:
		return pk.UnsubackDecode(body)
	case packets.Disconnect:
		return pk.DisconnectDecode(body)
	case packets.Auth:
		return pk.AuthDecode(body)
	case packets.Pingreq, packets.Pingresp:
		return nil
	default:
		return packets.ErrNoValidPacketAvailable
	}
}

func decodePublish(pk *packets.Packet, body []byte) error {
	if err := pk.PublishDecode(body); err != nil {
		return err
	}
	if code := pk.PublishValidate(0); code != packets.CodeSuccess {
		return code
	}
	if len(pk.TopicName) > maxTopic || strings.ContainsRune(pk.TopicName, 0) {
		return packets.ErrTopicNameInvalid
	}
	return nil
}

// put adds a packet to those that flush sends.
func (w *wire) put(pk *packets.Packet) error {
	pk.ProtocolVersion = w.version
	switch pk.FixedHeader.Type {
	case packets.Connect:
		return pk.ConnectEncode(&w.out)
	case packets.Connack:
		return pk.ConnackEncode(&w.out)
	case packets.Publish:
		return pk.PublishEncode(&w.out)
	case packets.Puback:
		return pk.PubackEncode(&w.out)
	case packets.Pubrec:
		return pk.PubrecEncode(&w.out)
	case packets.Pubcomp:
		return pk.PubcompEncode(&w.out)
	case packets.Subscribe:
		return pk.SubscribeEncode(&w.out)
	case packets.Suback:
		return pk.SubackEncode(&w.out)
	case packets.Unsuback:
		return pk.UnsubackEncode(&w.out)
	case packets.Pingreq:
		return pk.PingreqEncode(&w.out)
	case packets.Pingresp:
		return pk.PingrespEncode(&w.out)
	default:
		return pk.DisconnectEncode(&w.out)
	}
}

// flush sends the bytes that were put.
func (w *wire) flush() error {
	if w.out.Len() == 0 {
		return nil
	}
	if err := w.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	_, err := w.Write(w.out.Bytes())
	w.out.Reset()
	if w.out.Cap() > readAhead {
		w.out = bytes.Buffer{}
	}
	return err
}

// ack puts the acknowledgement of a message: PUBACK or PUBREC, nothing at QoS 0.
// Codes of refusal are of MQTT 5 alone.
func (w *wire) ack(pk *packets.Packet, code byte) error {
	answer := &packets.Packet{PacketID: pk.PacketID}
	switch pk.FixedHeader.Qos {
	case 0:
		return nil
	case 1:
		answer.FixedHeader.Type = packets.Puback
	default:
		answer.FixedHeader.Type = packets.Pubrec
	}
	if w.version == version5 {
		answer.ReasonCode = code
	}
	return w.put(answer)
}

// payloadOf returns a message as a source reads it.
func payloadOf(pk *packets.Packet) *inlet.Payload {
	return &inlet.Payload{Topic: pk.TopicName, Body: pk.Payload}
}
