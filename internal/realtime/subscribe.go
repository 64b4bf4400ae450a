package realtime

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// The bounds of a client's requests.
const (
	maxSubscriptions = 32
	maxSerials       = 500
	maxFilterText    = 200
	maxID            = 1<<53 - 1
	// maxMessage bounds a client's message in bytes.
	maxMessage = 64 << 10
)

// subscription is a socket's subscription to a channel.
type subscription struct {
	id      int64
	channel channel

	within    rimewatch.Sites     // that the principal is limited to, nil = all
	serials   map[string]struct{} // keys; nil = all
	site      *int64
	equipment string
	severity  rimewatch.Severity
	kind      rimewatch.AlertType
	types     []rimewatch.EventType // of events for programs that are asked for; in a subscription that holds, those that the principal may read
}

func (sub *subscription) appendID(b []byte) []byte { return strconv.AppendInt(b, sub.id, 10) }

func appendIDOrNull(b []byte, id *int64) []byte {
	if id == nil {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, *id, 10)
}

// open reports whether the subscription takes everything of its channel.
func (sub *subscription) open() bool {
	return sub.within == nil && sub.serials == nil && sub.site == nil && sub.equipment == "" && sub.severity == "" && sub.kind == "" && sub.types == nil
}

// matches reports whether the subscription is for a device.
func (sub *subscription) matches(d *store.Identity) bool {
	if !sub.within.Has(d.SiteID) {
		return false
	}
	if sub.serials != nil {
		if _, ok := sub.serials[d.Key]; !ok {
			return false
		}
	}
	return (sub.site == nil || *sub.site == d.SiteID) && (sub.equipment == "" || sub.equipment == d.EquipmentType)
}

// mayStill reports whether the subscriber may see today what it was told of a device
// then. Of one that was deleted only that it could be seen then is known.
func (sub *subscription) mayStill(d *store.Identity, today func(deviceID int64) *store.Identity) bool {
	if sub.within == nil || d == nil || d.ID == 0 {
		return true
	}
	now := today(d.ID)
	return now == nil || sub.within.Has(now.SiteID)
}

// matchesEvent reports whether the subscription is for an event of its channel.
func (sub *subscription) matchesEvent(e *event) bool {
	if e.device != nil && !sub.matches(e.device) || e.movedTo != nil && sub.within.Has(*e.movedTo) {
		return false
	}
	if e.channel == events && !slices.Contains(sub.types, e.what) {
		return false
	}
	return (sub.severity == "" || sub.severity == e.severity) && (sub.kind == "" || sub.kind == e.kind)
}

// message is a client's message.
type message struct {
	op      string
	id      *int64
	channel channel
	sub     *subscription
	since   string
}

// receive carries out a client's message.
func (s *socket) receive(text []byte, now time.Time) {
	s.heard.Store(true)
	if _, wait := messages().Take(&s.budget, rimewatch.TimeOf(now)); wait > 0 {
		s.shut(closeTooMany)
		return
	}
	if err := wire.CheckBody(text); err != nil {
		s.failure(nil, asError(err))
		return
	}
	m, err := parse(text)
	if err == nil {
		err = s.obey(m)
	}
	if err != nil {
		s.failure(m.id, asError(err))
	}
}

func asError(err error) *rimewatch.Error {
	var e *rimewatch.Error
	if !errors.As(err, &e) {
		e = rimewatch.Errorf(rimewatch.CodeInternal, "Internal error.")
	}
	return e
}

func (s *socket) obey(m message) error {
	if m.op == "unsubscribe" {
		if !s.room.unsubscribe(s, *m.id) {
			return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no subscription with this id.")
		}
		b := beginFrame(make([]byte, 0, 64))
		b = append(b, `{"op":"unsubscribed","id":`...)
		b = strconv.AppendInt(b, *m.id, 10)
		s.send(item{frame: endFrame(append(b, '}'), 0), seq: s.room.newestSeq()})
		return nil
	}
	if err := s.principal.Require(channelScopes[m.channel]); err != nil {
		return err
	}
	if m.channel == summary { // of the whole workspace
		if err := s.principal.RequireAllSites(); err != nil {
			return err
		}
	}
	if m.channel == events {
		if err := m.sub.admit(s.principal.Scopes, s.principal.Require); err != nil {
			return err
		}
	}
	used, n := s.room.has(s, *m.id)
	if used {
		return rimewatch.Errorf(rimewatch.CodeConflict, "There is already a subscription with this id.")
	}
	if n >= maxSubscriptions {
		return rimewatch.Errorf(rimewatch.CodeRateLimited, "A stream can have at most %d subscriptions.", maxSubscriptions)
	}
	m.sub.within = s.principal.Sites()
	s.room.subscribe(s, m.sub, m.since)
	return nil
}

// admit narrows a subscription to events to the types that a principal may read, and
// refuses one that asks for others.
func (sub *subscription) admit(s rimewatch.Scopes, require func(rimewatch.Scopes) error) error {
	if sub.types == nil {
		sub.types = rimewatch.EventTypesFor(s)
		return nil
	}
	for _, t := range sub.types {
		if k, ok := rimewatch.EventKindOf(t); ok {
			if err := require(k.Needs); err != nil {
				return err
			}
		}
	}
	return nil
}

// parse reads a message. The part that could be read is returned in any case, so that an
// error can name the id.
func parse(text []byte) (m message, err error) {
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil || members == nil {
		return m, rimewatch.Errorf(rimewatch.CodeInvalidJSON, "A message is a JSON object.")
	}
	x := rimewatch.Error{Code: rimewatch.CodeValidationFailed, Message: "The message has invalid fields."}
	m.id = wholeNumber(members["id"])
	if m.id == nil {
		x.With("id", "must be an integer between 0 and %d", int64(maxID))
	}
	if json.Unmarshal(members["op"], &m.op) != nil || m.op != "subscribe" && m.op != "unsubscribe" {
		x.With("op", "must be subscribe or unsubscribe")
		return m, &x
	}
	known := []string{"op", "id"}
	if m.op == "subscribe" {
		known = append(known, "channel", "filter", "since")
		m.subscribe(members, &x)
	}
	refuseOthers(members, known, "", &x)
	if len(x.Fields) > 0 {
		return m, &x
	}
	return m, nil
}

func refuseOthers(members map[string]json.RawMessage, known []string, prefix string, x *rimewatch.Error) {
	for name := range members {
		if !slices.Contains(known, name) {
			x.With(prefix+shown(name), "is not a known field")
		}
	}
}

// shown is a name from outside as it may go back.
func shown(name string) string {
	if len(name) > 64 {
		return "…"
	}
	return name
}

func (m *message) subscribe(members map[string]json.RawMessage, x *rimewatch.Error) {
	var name string
	_ = json.Unmarshal(members["channel"], &name) // a value that is no string is no channel
	var ok bool
	if m.channel, ok = channelByName(name); !ok {
		x.With("channel", "must be devices, readings, alerts, summary or events")
		return
	}
	m.sub = &subscription{channel: m.channel}
	if m.id != nil {
		m.sub.id = *m.id
	}
	if since := members["since"]; since != nil && json.Unmarshal(since, &m.since) != nil {
		x.With("since", "must be the id of an event")
	}
	if filter := members["filter"]; filter != nil && string(filter) != "null" {
		m.sub.filter(filter, x)
	}
}

// filters are the filters of each channel.
var filters = [numChannels][]string{
	devices:  {"serials", "site_id", "equipment_type"},
	readings: {"serials", "site_id", "equipment_type"},
	alerts:   {"serials", "severity", "type"},
	summary:  {},
	events:   {"types", "site_id"},
}

func (sub *subscription) filter(text json.RawMessage, x *rimewatch.Error) {
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		x.With("filter", "must be an object")
		return
	}
	refuseOthers(members, filters[sub.channel], "filter.", x)
	for name, value := range members {
		if string(value) == "null" || !slices.Contains(filters[sub.channel], name) {
			continue
		}
		switch name {
		case "serials":
			sub.serialFilter(value, x)
		case "site_id":
			if sub.site = wholeNumber(value); sub.site == nil {
				x.With("filter.site_id", "must be an integer")
			}
		case "equipment_type":
			sub.equipment = textFilter(name, value, x)
		case "types":
			sub.typesFilter(value, x)
		case "type":
			sub.kind = rimewatch.AlertType(textFilter(name, value, x))
		case "severity":
			sub.severity = rimewatch.Severity(textFilter(name, value, x))
			if sub.severity != rimewatch.Warning && sub.severity != rimewatch.Critical {
				x.With("filter.severity", "must be warning or critical")
			}
		}
	}
}

func (sub *subscription) serialFilter(value json.RawMessage, x *rimewatch.Error) {
	var list []string
	if json.Unmarshal(value, &list) != nil || len(list) == 0 || len(list) > maxSerials {
		x.With("filter.serials", "must be an array of 1 to %d serials", maxSerials)
		return
	}
	sub.serials = make(map[string]struct{}, len(list))
	for i, serial := range list {
		if !rimewatch.ValidSerial(serial) {
			x.With("filter.serials["+strconv.Itoa(i)+"]", "is not a serial")
		}
		sub.serials[rimewatch.SerialKey(serial)] = struct{}{}
	}
}

func (sub *subscription) typesFilter(value json.RawMessage, x *rimewatch.Error) {
	known := func(t rimewatch.EventType) bool { _, ok := rimewatch.EventKindOf(t); return ok }
	if json.Unmarshal(value, &sub.types) != nil || len(sub.types) == 0 || len(sub.types) > len(rimewatch.EventKinds()) || slices.ContainsFunc(sub.types, func(t rimewatch.EventType) bool { return !known(t) }) {
		x.With("filter.types", "must be an array of types of events")
	}
}

func textFilter(name string, value json.RawMessage, x *rimewatch.Error) string {
	var text string
	if json.Unmarshal(value, &text) != nil || text == "" || len(text) > maxFilterText {
		x.With("filter."+name, "must be a string of 1 to %d bytes", maxFilterText)
	}
	return text
}

func wholeNumber(text json.RawMessage) *int64 {
	var n *int64
	if json.Unmarshal(text, &n) != nil || n == nil || *n < 0 || *n > maxID {
		return nil
	}
	return n
}
