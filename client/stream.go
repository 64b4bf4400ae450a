package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/rimewatch/rimewatch"
)

// Channel is a kind of news.
type Channel string

// The channels. Readings need the scope readings:read, alerts alerts:read,
// devices and the summary devices:read.
const (
	ChannelDevices  Channel = "devices"
	ChannelReadings Channel = "readings"
	ChannelAlerts   Channel = "alerts"
	ChannelSummary  Channel = "summary"
)

// Subscription selects the events of a channel. Empty filters do not filter.
type Subscription struct {
	Channel       Channel
	Serials       []string            // devices, readings, alerts
	SiteID        *int64              // devices, readings; 0 = without a site
	EquipmentType string              // devices, readings
	Severity      rimewatch.Severity  // alerts
	Type          rimewatch.AlertType // alerts
	// Since is the ID of the last event that was dealt with, of an earlier stream:
	// events since then come first, if they are not too old.
	Since string
}

// EventKind is the kind of an Event.
type EventKind string

// The kinds that a stream makes itself; the others are the service's, such as
// reading.created.
const (
	// Subscribed: the channel is being listened to, at the beginning and again
	// after every lost connection. Unless Recovered, events may be missing before
	// it: now is the moment to fetch the present state.
	Subscribed EventKind = "stream.subscribed"
	// Lost: the connection was lost and is being made again. Err says why.
	Lost EventKind = "stream.lost"
)

// Event is news. Of Reading, Device, Alert and Summary the one is set that the
// channel is about.
type Event struct {
	Channel Channel // "" for Lost
	ID      string  // "" for Lost
	Kind    EventKind
	At      rimewatch.Time

	Reading *StoredReading
	Device  *DeviceItem
	Alert   *Alert
	Summary *Summary

	Recovered bool  // of Subscribed
	Err       error // of Lost
}

// Stream yields events until ctx ends or the loop is left. A lost
// connection is made again, with a growing and jittered wait, and goes on after
// the last event: none is missed within the service's ten minutes, and none
// comes twice. Readings may be left out when there are more than this side or
// the service can deal with; then the newest of each device comes. Each channel
// may be subscribed to once.
//
// An error ends the stream: the context's, or a refusal that would be repeated,
// such as CodeUnauthenticated or CodeForbidden.
func (c *Client) Stream(ctx context.Context, subs ...Subscription) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		s := &streamer{c: c, subs: make([]Subscription, len(subs)), yield: yield}
		copy(s.subs, subs)
		if err := s.check(); err != nil {
			yield(Event{}, err)
			return
		}
		for try := 0; ; try++ {
			lived, err := s.connect(ctx)
			if errors.Is(err, errLeft) {
				return
			}
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			if ctx.Err() != nil || final(err) {
				yield(Event{}, err)
				return
			}
			if lived {
				try = 0
				if !yield(Event{Kind: Lost, Err: err}, nil) {
					return
				}
			}
			wait := c.o.backoff(try)
			if e, ok := errors.AsType[*Error](err); ok {
				wait = max(wait, e.Failure.RetryAfter)
			}
			if c.o.sleep(ctx, wait) != nil {
				yield(Event{}, ctx.Err())
				return
			}
		}
	}
}

// StreamTicket is a way into the stream for one who can send no header: good
// once, within 30 s, with the rights of this client's token.
type StreamTicket struct {
	Ticket    string         `json:"ticket"` // for ?ticket= of /api/v1/stream
	ExpiresAt rimewatch.Time `json:"expires_at"`
}

// CreateStreamTicket returns a ticket for the stream.
func (c *Client) CreateStreamTicket(ctx context.Context) (StreamTicket, error) {
	return fetch[StreamTicket](ctx, c, &call{method: http.MethodPost, path: "/api/v1/stream/tickets", idempotent: true})
}

// errLeft means that the consumer has had enough.
var errLeft = errors.New("the loop was left")

// final reports whether trying again would end the same way.
func final(err error) bool {
	switch code := websocket.CloseStatus(err); code {
	case closeUnauthenticated, closeForbidden:
		return true
	case -1: // no close frame
	default:
		return false
	}
	switch rimewatch.CodeOf(err) {
	case rimewatch.CodeUnauthenticated, rimewatch.CodeForbidden, rimewatch.CodeValidationFailed, rimewatch.CodeNotFound, rimewatch.CodeUpgradeRequired:
		return true
	}
	return false
}

// The service's close codes that end a stream.
const (
	closeUnauthenticated websocket.StatusCode = 4401
	closeForbidden       websocket.StatusCode = 4403
)

// silence is how long a connection may say nothing, pings included, which come
// every 25 s.
const silence = time.Minute

// maxStreamMessage bounds a message of the service.
const maxStreamMessage = 4 << 20

// streamer is a stream at work.
type streamer struct {
	c     *Client
	subs  []Subscription // Since moves on
	yield func(Event, error) bool
	seen  recent
}

func (s *streamer) check() error {
	if len(s.subs) == 0 {
		return errors.New("a stream needs a subscription")
	}
	known := make(map[Channel]bool)
	for _, sub := range s.subs {
		if known[sub.Channel] {
			return fmt.Errorf("the channel %s is subscribed to twice", sub.Channel)
		}
		known[sub.Channel] = true
	}
	return nil
}

// connect opens a connection and listens until it ends. lived reports whether it
// came to be subscribed.
func (s *streamer) connect(ctx context.Context) (lived bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	quiet := time.AfterFunc(silence, cancel)
	defer quiet.Stop()
	header := http.Header{"User-Agent": {s.c.o.UserAgent}}
	if s.c.token != "" {
		header.Set("Authorization", "Bearer "+s.c.token)
	}
	path := "/api/v1/stream"
	//nolint:bodyclose // that of a handshake needs no closing, says the library
	conn, resp, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(s.c.root, "http")+path, &websocket.DialOptions{
		HTTPClient: s.c.o.HTTP, HTTPHeader: header, Subprotocols: []string{"rimewatch.v1"},
		OnPingReceived: func(context.Context, []byte) bool {
			quiet.Reset(silence)
			return true
		},
	})
	if err != nil {
		if resp != nil && resp.StatusCode >= 400 {
			return false, readError(get("/stream", nil), resp)
		}
		return false, err
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(maxStreamMessage)
	for i := range s.subs {
		b, err := json.Marshal(s.subs[i].message(i))
		if err != nil {
			return false, err
		}
		if err := conn.Write(ctx, websocket.MessageText, b); err != nil {
			return false, err
		}
	}
	for {
		_, b, err := conn.Read(ctx)
		if err != nil {
			return lived, err
		}
		quiet.Reset(silence)
		if err := s.take(b); err != nil {
			if errors.Is(err, errLeft) {
				_ = conn.Close(websocket.StatusNormalClosure, "")
			}
			return lived, err
		}
		lived = true
	}
}

// message asks for a subscription.
func (sub *Subscription) message(id int) any {
	type filter struct {
		Serials       []string            `json:"serials,omitempty"`
		SiteID        *int64              `json:"site_id,omitempty"`
		EquipmentType string              `json:"equipment_type,omitempty"`
		Severity      rimewatch.Severity  `json:"severity,omitempty"`
		Type          rimewatch.AlertType `json:"type,omitempty"`
	}
	return struct {
		Op      string  `json:"op"`
		ID      int     `json:"id"`
		Channel Channel `json:"channel"`
		Filter  filter  `json:"filter"`
		Since   string  `json:"since,omitempty"`
	}{"subscribe", id, sub.Channel, filter{sub.Serials, sub.SiteID, sub.EquipmentType, sub.Severity, sub.Type}, sub.Since}
}

// streamMessage is a message of the service.
type streamMessage struct {
	Op        string         `json:"op"`
	Channel   Channel        `json:"channel"`
	ID        any            `json:"id"` // of the event; of the subscription in answers
	Event     EventKind      `json:"event"`
	At        rimewatch.Time `json:"at"`
	Last      string         `json:"last_event_id"`
	Recovered bool           `json:"recovered"`
	Data      struct {
		Reading *StoredReading `json:"reading"`
		Device  *DeviceItem    `json:"device"`
		Alert   *Alert         `json:"alert"`
		Summary *Summary       `json:"summary"`
	} `json:"data"`
	Error *struct {
		Code    rimewatch.Code      `json:"code"`
		Message string              `json:"message"`
		Fields  map[string][]string `json:"fields"`
	} `json:"error"`
}

// take deals with one message.
func (s *streamer) take(b []byte) error {
	var m streamMessage
	if err := json.Unmarshal(b, &m); err != nil {
		return fmt.Errorf("stream: %w: %w", errNotTheAPI, err)
	}
	switch m.Op {
	case "error":
		if m.Error == nil {
			return fmt.Errorf("stream: %w", errNotTheAPI)
		}
		return &rimewatch.Error{Code: m.Error.Code, Message: m.Error.Message, Fields: m.Error.Fields}
	case "subscribed":
		s.since(m.Channel, m.Last)
		return s.emit(Event{Channel: m.Channel, ID: m.Last, Kind: Subscribed, Recovered: m.Recovered})
	case "event":
		id, _ := m.ID.(string)
		if id == "" || !s.seen.add(id) {
			return nil
		}
		err := s.emit(Event{
			Channel: m.Channel, ID: id, Kind: m.Event, At: m.At,
			Reading: m.Data.Reading, Device: m.Data.Device, Alert: m.Data.Alert, Summary: m.Data.Summary,
		})
		s.since(m.Channel, id)
		return err
	}
	return nil // a message of a later version
}

func (s *streamer) since(c Channel, id string) {
	for i := range s.subs {
		if s.subs[i].Channel == c {
			s.subs[i].Since = id
		}
	}
}

func (s *streamer) emit(e Event) error {
	if !s.yield(e, nil) {
		return errLeft
	}
	return nil
}

// recent remembers the ids that came last.
type recent struct {
	young, old map[string]struct{}
}

const recentIDs = 16_384

// add notes an id and reports whether it is new.
func (r *recent) add(id string) bool {
	if _, ok := r.young[id]; ok {
		return false
	}
	if _, ok := r.old[id]; ok {
		return false
	}
	if r.young == nil || len(r.young) >= recentIDs {
		r.old, r.young = r.young, make(map[string]struct{})
	}
	r.young[id] = struct{}{}
	return true
}
