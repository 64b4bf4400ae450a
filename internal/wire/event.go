package wire

import (
	"encoding/json"

	"github.com/rimewatch/rimewatch"
)

// Event is an event as programs read it: from the feed, the stream and webhooks.
type Event struct {
	ID      string         `json:"id" example:"evt_1_42" doc:"The same wherever and however often the event is read. Drop what you have seen."`
	At      rimewatch.Time `json:"at" nullable:"false" doc:"When it was stored."`
	Type    string         `json:"type" example:"alert.opened" doc:"More may be added."`
	Subject string         `json:"subject" example:"alert/12" doc:"What it happened to. The events of one subject come in order."`
	SiteID  *int64         `json:"site_id" doc:"Where it stood then, null = at none."`
	Data    EventData      `json:"data"`
}

// EventData is an object whose members depend on the type.
type EventData json.RawMessage

// MarshalJSON implements json.Marshaler.
func (d EventData) MarshalJSON() ([]byte, error) { return json.RawMessage(d).MarshalJSON() }

// EventDevice is a device that came online or went offline, or that something else happened to.
type EventDevice struct {
	ID            int64  `json:"id"`
	Serial        string `json:"serial"`
	Name          string `json:"name"`
	EquipmentType string `json:"equipment_type"`
	SiteID        *int64 `json:"site_id"`
	Status        string `json:"status,omitempty"` // of device.online and device.offline
}

// EventExcursion is an excursion. Until it is over, To is null and the rest is what is known so far.
type EventExcursion struct {
	From          rimewatch.Time `json:"from"`
	To            rimewatch.Time `json:"to"`
	Low           bool           `json:"low"`
	Limit         float64        `json:"limit"`
	Peak          float64        `json:"peak"`
	DegreeMinutes float64        `json:"degree_minutes"`
	Cause         string         `json:"cause"`
	ShortTimes    int            `json:"short_times"` // that it consists of, 0 = it is one that lasted
	FoundLateAt   rimewatch.Time `json:"found_late_at"`
}

// NewEventExcursion is the JSON form of an excursion.
func NewEventExcursion(e *rimewatch.Excursion) *EventExcursion {
	return &EventExcursion{e.From, e.To, e.Low, e.Limit, e.Peak, e.DegreeMinutes, string(e.Cause), e.Runs, e.FoundLateAt}
}
