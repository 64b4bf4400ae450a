package fleet

import (
	"encoding/binary"
	"errors"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/health"
)

// heartbeat is the form in which a heartbeat is logged.
type heartbeat struct {
	Offline    bool     `json:"o,omitempty"`
	BatteryPct *float64 `json:"b,omitempty"`
	RSSI       *float64 `json:"r,omitempty"`
	UptimeS    *int64   `json:"u,omitempty"`
	Low        *bool    `json:"l,omitempty"` // its battery, by its own word
	LowPct     int      `json:"p,omitempty"` // level at which batteries of its kind are low
}

// EncodeHeartbeat returns the payload of an InputHeartbeat, nil when it says nothing.
func EncodeHeartbeat(hb *rimewatch.Heartbeat) []byte {
	if !hb.Offline && hb.BatteryPct == nil && hb.BatteryLow == nil && hb.RSSI == nil && hb.UptimeS == nil {
		return nil
	}
	b, err := encodePayload(heartbeat{hb.Offline, hb.BatteryPct, hb.RSSI, hb.UptimeS, hb.BatteryLow, hb.BatteryLowPct})
	if err != nil {
		return nil
	}
	return b
}

func decodeHeartbeat(b []byte) (hb heartbeat) {
	decodePayload(b, &hb)
	return hb
}

// EncodeResolve returns the payload of an InputResolve. It names the alert that a person resolved: its
// type and, behind a colon, the part that it is about.
func EncodeResolve(a *rimewatch.Alert) []byte {
	if a.Part == "" {
		return []byte(a.Type)
	}
	return []byte(string(a.Type) + ":" + a.Part)
}

func decodeResolve(payload []byte) engine.Input {
	typ, part, _ := strings.Cut(string(payload), ":")
	return engine.Input{Kind: engine.Resolve, Alert: rimewatch.AlertType(typ), Part: part}
}

// Judgement is the form in which feedback is logged.
type Judgement struct {
	Type    rimewatch.AlertType `json:"t,omitempty"` // of the alert, "" when it was over
	Verdict rimewatch.Verdict   `json:"v"`
	Was     rimewatch.Verdict   `json:"w,omitempty"`
}

// Encode returns the payload of an InputFeedback.
func (j Judgement) Encode() ([]byte, error) { return encodePayload(j) }

// decodeFeedback reads logged feedback.
func decodeFeedback(payload []byte) engine.Input {
	var j Judgement
	decodePayload(payload, &j)
	return engine.Input{Kind: engine.Feedback, Alert: j.Type, Verdict: j.Verdict, Was: j.Was}
}

// decodeRejudged reads a logged conclusion about late readings, which is
// health.State.AppendBinary. One that cannot be read is none: the late readings are still known as
// such, and are judged again.
func decodeRejudged(payload []byte) engine.Input {
	e := engine.Input{Kind: engine.Rejudged}
	var h health.State
	if rest, err := h.DecodeBinary(payload); err == nil && len(rest) == 0 {
		e.Health = &h
	}
	return e
}

// EncodeClock returns the payload of an InputClock that sets the clock back by so much, by < 0.
func EncodeClock(by rimewatch.Time) []byte { return binary.AppendVarint(nil, int64(by)) }

func decodeClock(payload []byte) (by rimewatch.Time, err error) {
	v, n := binary.Varint(payload)
	if n != len(payload) || n == 0 || v >= 0 {
		return 0, errors.New("damaged step of the clock")
	}
	return rimewatch.Time(v), nil
}
