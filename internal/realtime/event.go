package realtime

import (
	"strconv"
	"strings"
	"sync"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// channel is one of the kinds of news that can be subscribed to.
type channel uint8

const (
	devices channel = iota
	readings
	alerts
	summary
	events
	numChannels
)

var channelNames = [numChannels]string{"devices", "readings", "alerts", "summary", "events"}

// channelScopes are the scopes that a subscription to each channel needs.
var channelScopes = [numChannels]rimewatch.Scopes{
	devices: rimewatch.ScopeDevicesRead, readings: rimewatch.ScopeReadingsRead,
	alerts: rimewatch.ScopeAlertsRead, summary: rimewatch.ScopeDevicesRead, events: rimewatch.ScopeEventsRead,
}

func channelByName(name string) (channel, bool) {
	for c, known := range channelNames {
		if known == name {
			return channel(c), true
		}
	}
	return 0, false
}

// reading is a reading.created event. It is encoded when it is sent, since most
// are kept longer than their frame.
type reading struct {
	seq    uint64
	at     rimewatch.Time // of the commit
	device *store.Identity
	value  rimewatch.Reading
}

// event is any other event with its finished frame.
type event struct {
	seq      uint64
	at       rimewatch.Time
	channel  channel
	device   *store.Identity // nil where none is concerned
	movedTo  *int64          // the site to which it has moved: news for those alone who may not see it there
	severity rimewatch.Severity
	kind     rimewatch.AlertType
	what     rimewatch.EventType // of an event for programs
	frame    []byte              // in English where it has sentences
	own      *inWords
}

// inWords makes the frames of an event for those who read it otherwise.
type inWords struct {
	write  func(rimewatch.Locale) []byte
	mu     sync.Mutex
	frames map[rimewatch.Locale][]byte
}

// in is the frame for a reader.
func (e *event) in(l rimewatch.Locale) []byte {
	if e.own == nil || l == (rimewatch.Locale{}) {
		return e.frame
	}
	e.own.mu.Lock()
	defer e.own.mu.Unlock()
	f, made := e.own.frames[l]
	if !made {
		if f = e.own.write(l); f == nil {
			f = e.frame
		}
		if e.own.frames == nil {
			e.own.frames = make(map[rimewatch.Locale][]byte)
		}
		e.own.frames[l] = f
	}
	return f
}

// batch are the readings that a room sends at one time. frames are the frames
// of all of them, that of number i up to ends[i].
type batch struct {
	readings []reading
	frames   []byte
	ends     []int32
}

func (b *batch) frame(i int32) []byte {
	from := int32(0)
	if i > 0 {
		from = b.ends[i-1]
	}
	return b.frames[from:b.ends[i]]
}

// position is where in a workspace's events an id points.
type position struct {
	epoch string
	seq   uint64
}

// appendID writes an event's id: what cannot be told from the number, whose
// numbers these are, and the number.
func appendID(b []byte, epoch string, seq uint64) []byte {
	b = append(b, epoch...)
	b = append(b, '-')
	return strconv.AppendUint(b, seq, 36)
}

func parseID(id string) (p position, ok bool) {
	epoch, digits, found := strings.Cut(id, "-")
	seq, err := strconv.ParseUint(digits, 36, 63)
	return position{epoch, seq}, found && err == nil && epoch != ""
}

// header is the size of most frames' heads: payloads of 126 to 65,535 bytes.
const header = 4

// beginFrame leaves room for the head of a frame.
func beginFrame(b []byte) []byte { return append(b, 0, 0, 0, 0) }

// endFrame writes the head of the text frame whose payload begins header bytes
// after start, moving the payload where the head has another size (RFC 6455,
// 5.2; servers do not mask).
func endFrame(b []byte, start int) []byte {
	const finText = 0x81
	n := len(b) - start - header
	switch {
	case n < 126:
		copy(b[start+2:], b[start+header:])
		b = b[:len(b)-2]
		b[start], b[start+1] = finText, byte(n)
	case n < 1<<16:
		b[start], b[start+1], b[start+2], b[start+3] = finText, 126, byte(n>>8), byte(n)
	default:
		b = append(b, 0, 0, 0, 0, 0, 0)
		copy(b[start+10:], b[start+header:len(b)-6])
		b[start], b[start+1] = finText, 127
		for i := range 8 {
			b[start+2+i] = byte(n >> (56 - 8*i))
		}
	}
	return b
}

// appendHead writes an event's members up to its data.
func appendHead(b []byte, epoch string, seq uint64, c channel, name string, at rimewatch.Time) []byte {
	b = append(b, `{"op":"event","channel":"`...)
	b = append(b, channelNames[c]...)
	b = append(b, `","id":"`...)
	b = appendID(b, epoch, seq)
	b = append(b, `","event":"`...)
	b = append(b, name...)
	b = append(b, `","at":"`...)
	b = at.Append(b)
	return append(b, `","data":`...)
}

// appendReading writes the frame of a reading.
func appendReading(b []byte, epoch string, r *reading) []byte {
	start := len(b)
	b = beginFrame(b)
	b = appendHead(b, epoch, r.seq, readings, "reading.created", r.at)
	b = append(b, `{"reading":`...)
	shown := r.value
	shown.Correct(r.device.Offsets)
	b = wire.AppendReading(b, r.device.ID, r.device.Serial, &shown)
	return endFrame(append(b, "}}"...), start)
}
