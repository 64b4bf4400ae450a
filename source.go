package rimewatch

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
	"time"
)

// SourceKind is the way readings come from a source.
type SourceKind string

// The kinds of sources.
const (
	SourcePush SourceKind = "push" // the sender connects to us: a webhook, Influx line protocol, our MQTT listener
	SourceMQTT SourceKind = "mqtt" // we connect to a broker
	SourceAPI  SourceKind = "api"  // the API itself; every workspace has one, for what waits there
)

// OnUnknown is the treatment of readings of unregistered devices.
type OnUnknown string

// The treatments.
const (
	HoldUnknown     OnUnknown = "hold"     // kept as they came until somebody accepts the device
	RegisterUnknown OnUnknown = "register" // the device is created
	RefuseUnknown   OnUnknown = "refuse"
)

// Valid reports whether o is one of the three.
func (o OnUnknown) Valid() bool {
	return o == HoldUnknown || o == RegisterUnknown || o == RefuseUnknown
}

// Source is where readings come from in a form that is not the API's own.
type Source struct {
	ID            int64
	WorkspaceID   int64
	Kind          SourceKind
	Name          string
	Template      string // name of a built-in one, TemplateAuto or TemplateOwn
	Document      string // JSON of the template, of TemplateOwn
	OnUnknown     OnUnknown
	SiteID        int64  // of devices that the source registers
	EquipmentType string // likewise
	TimeZone      string // IANA name, of times that come without a zone; "" = they are refused
	Enabled       bool
	Broker        Broker // of SourceMQTT
	Revision      int64  // of what people set: 1 at first, grows with every change
	CreatedAt     Time
	UpdatedAt     Time
}

// Names of templates that are none.
const (
	TemplateAuto = "auto" // the form of a payload is recognised
	TemplateOwn  = "own"  // the source's document
)

// Broker is an MQTT broker that we connect to.
type Broker struct {
	URL      string   `json:"url,omitempty"` // mqtt:// or mqtts://
	Username string   `json:"username,omitempty"`
	Password string   `json:"password,omitempty"`
	ClientID string   `json:"client_id,omitempty"`
	Topics   []string `json:"topics,omitempty"` // filters
	// Discovery is where a Home Assistant looks for descriptions of devices, such as
	// homeassistant; "" = they are not described.
	Discovery string `json:"discovery,omitempty"`
}

// SourceKey is a key by which senders reach a source of SourcePush. A source may have
// several, so that one can be replaced without the others.
type SourceKey struct {
	ID          int64
	WorkspaceID int64
	SourceID    int64
	Name        string   // of its holder, in people's own words; may be empty
	Hash        [32]byte // SHA-256 of the key
	Prefix      string   // to recognise the key by
	MadeAt      Time     // when the present key was made: a replaced one keeps its ID and name
	Revision    int64    // 1 at first, grows with every change
	CreatedAt   Time
	UpdatedAt   Time
}

// Check reports why k cannot be stored: CodeValidationFailed with the field name.
func (k *SourceKey) Check() error {
	e := checkLine(nil, "name", k.Name)
	if k.Hash == [32]byte{} || k.Prefix == "" {
		e = complain(e, "key", "is missing")
	}
	return result(e)
}

// KeyUse is when a device was last heard by a key of a source.
type KeyUse struct {
	KeyID        int64
	DeviceID     int64  // 0 = senders that are no device yet
	Serial, Name string // of the device
	At           Time
}

// Bounds of sources.
const (
	MaxSources     = 100  // of a workspace
	MaxSourceKeys  = 1000 // likewise
	MaxBindings    = 5000 // of a source
	MaxExternalID  = 128  // bytes
	MaxTopics      = 20
	MaxDocumentLen = 32 << 10
	maxTopicLen    = 256
)

// SenderKey returns the form of id by which the source tells its senders apart. Those
// of the API are serials, compared case-insensitively; those of other sources are as
// they call themselves, but for hardware addresses, of which all ways to write them are one.
func (s *Source) SenderKey(id string) string {
	if s.Kind == SourceAPI {
		return SerialKey(id)
	}
	head, sensor, _ := strings.Cut(id, "/")
	plain, ok := euiKey(PlainEUI(head))
	switch {
	case !ok:
		return id
	case len(head) < len(id):
		return plain + "/" + sensor
	default:
		return plain
	}
}

// PlainEUI returns an EUI-64 that is written in Base64, as network servers' older versions
// do, in hexadecimal, and any other text as it is.
func PlainEUI(id string) string {
	const length = 12 // of 8 bytes
	if len(id) != length || id[length-1] != '=' {
		return id
	}
	b, err := base64.StdEncoding.DecodeString(id)
	if err != nil {
		return id
	}
	return hex.EncodeToString(b)
}

// euiKey returns an EUI-48 or EUI-64 in small letters without separators; ok is false for
// other texts.
func euiKey(text string) (key string, ok bool) {
	const short, long = 12, 16
	digits := strings.NewReplacer(":", "", "-", "").Replace(text)
	if n := len(digits); n != short && n != long || len(text) != n && len(text) != n+n/2-1 {
		return "", false
	}
	_, err := hex.DecodeString(digits)
	return strings.ToLower(digits), err == nil
}

// Check reports why s cannot be stored: CodeValidationFailed with the fields name,
// kind, template, on_unknown, equipment_type, timezone, broker.….
func (s *Source) Check() error {
	e := checkName(s.Name)
	if s.Kind != SourcePush && s.Kind != SourceMQTT && s.Kind != SourceAPI {
		e = complain(e, "kind", "must be push or mqtt")
	}
	e = CheckText(e, "template", s.Template, MaxNameLen)
	e = CheckText(e, "template", s.Document, MaxDocumentLen)
	if (s.Template == TemplateOwn) != (s.Document != "") {
		e = complain(e, "template", "must be a name or a document")
	}
	if !s.OnUnknown.Valid() {
		e = complain(e, "on_unknown", "must be hold, register or refuse")
	}
	e = checkLine(e, "equipment_type", s.EquipmentType)
	switch {
	case s.TimeZone == "":
	case s.Kind == SourceAPI:
		e = complain(e, "timezone", "is for other sources: times sent through the API name their own zone")
	default:
		e = Merge(e, checkZone(s.TimeZone))
	}
	if s.Kind == SourceMQTT {
		e = s.Broker.check(e)
	}
	return result(e)
}

func (b *Broker) check(e *Error) *Error {
	u, err := url.Parse(b.URL)
	if err != nil || u.Host == "" || (u.Scheme != "mqtt" && u.Scheme != "mqtts") || u.User != nil || len(b.URL) > MaxAddressLen {
		e = complain(e, "broker.url", "must be mqtt://HOST:PORT or mqtts://HOST:PORT, without a password")
	}
	e = checkLine(e, "broker.username", b.Username)
	e = CheckText(e, "broker.password", b.Password, MaxAddressLen)
	if b.Password != "" && b.Username == "" {
		e = complain(e, "broker.username", "is required with a password")
	}
	e = checkLine(e, "broker.client_id", b.ClientID)
	if d := b.Discovery; d != "" && (!ValidTopicFilter(d) || strings.ContainsAny(d, "+#") || strings.HasPrefix(d, "$") || strings.HasSuffix(d, "/")) {
		e = complain(e, "broker.discovery_prefix", "must be the beginning of a topic, such as homeassistant")
	}
	if len(b.Topics) == 0 || len(b.Topics) > MaxTopics {
		e = complain(e, "broker.topics", "must be 1 to %d topics", MaxTopics)
	}
	for _, t := range b.Topics {
		if !ValidTopicFilter(t) || strings.HasPrefix(t, "$") || t == "#" {
			e = complain(e, "broker.topics", "%q is not a topic that can be subscribed to: name its first level, as in zigbee2mqtt/#", t)
		}
	}
	return e
}

// ValidTopicFilter reports whether t is a topic filter of MQTT 3.1.1 (4.7): a
// wildcard fills a level, # only the last.
func ValidTopicFilter(t string) bool {
	if t == "" || len(t) > maxTopicLen || CheckText(nil, "", t, maxTopicLen) != nil {
		return false
	}
	levels := strings.Split(t, "/")
	for i, level := range levels {
		switch {
		case level == "#" && i < len(levels)-1:
			return false
		case level != "#" && level != "+" && strings.ContainsAny(level, "#+"):
			return false
		}
	}
	return true
}

// Binding ties a source's name of a sender to a device.
type Binding struct {
	SourceID   int64
	ExternalID string
	Serial     string
	Fields     string // JSON of the rules by which it is read; "" = by the source's template
	CreatedAt  Time
}

// Check reports why b cannot be stored: CodeValidationFailed with the fields
// external_id, device_serial, fields.
func (b *Binding) Check() error {
	e := CheckText(nil, "external_id", b.ExternalID, MaxExternalID)
	if !ValidSerial(b.Serial) {
		e = complain(e, "device_serial", "must be 1 to 64 of the characters A-Z a-z 0-9 . _ : -")
	}
	return result(CheckText(e, "fields", b.Fields, MaxDocumentLen))
}

// Held is a payload that waits: its sender is not known, or it could not be
// mapped.
type Held struct {
	ID         int64
	SourceID   int64
	ExternalID string // "" = the sender is not known
	ReceivedAt Time
	Topic      string
	Query      string // of the URL, as it came
	Body       []byte
	Reason     string // why it waits, as Sentence.Stored returns it
	Label      string // the sender's own name for people
}

// Size returns the bytes that a held payload counts for.
func (h *Held) Size() int64 {
	const overhead = 100
	return overhead + int64(len(h.ExternalID)+len(h.Topic)+len(h.Query)+len(h.Body)+len(h.Reason)+len(h.Label))
}

// HeldReadingTopic is the topic of held payloads that are one reading in the form
// of the API. No topic of a broker begins so.
const HeldReadingTopic = "$reading"

// ErrHeldFull refuses a payload that would have to wait and has no room.
func ErrHeldFull() *Error {
	e := Errorf(CodeHeldFull, "Too much is waiting for devices to be accepted: accept or delete some of it.")
	e.RetryAfter = 10 * time.Minute
	return e
}

// HeldSender is a sender with waiting payloads.
type HeldSender struct {
	SourceID   int64
	ExternalID string
	Label      string
	Reason     string // of the newest
	Count      int64
	Bytes      int64
	FirstAt    Time
	LastAt     Time
}

// Bounds of held payloads. New ones beyond them are refused; those that wait stay.
const (
	MaxHeldBytes   = 64 << 20 // of a workspace
	MaxHeldSenders = 10_000   // of a workspace
	HeldFor        = 7 * Day
)

// shownOfKey is how much of a source's key is kept readable, in bytes.
const shownOfKey = 9

// Use makes k a key's.
func (k *SourceKey) Use(key string) {
	k.Hash, k.Prefix = HashToken(key), key[:min(len(key), shownOfKey)]
}

// SourceKeyPrefix starts the key of every source.
const SourceKeyPrefix = "in_"

// NewSourceKey forms a source's key from random bytes as NewToken does a token.
func NewSourceKey(random func() byte) string { return newKey(SourceKeyPrefix, random) }

// ValidSourceKey reports offline whether s has the form and the checksum of a
// source's key.
func ValidSourceKey(s string) bool { return validKey(SourceKeyPrefix, s) }
