package v1

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// HeartbeatBody is a device's report of itself.
type HeartbeatBody struct {
	Status             *string         `json:"status,omitempty" nullable:"true" enum:"online,offline" doc:"offline announces a planned shutdown."`
	SentAt             *rimewatch.Time `json:"sent_at,omitempty" nullable:"true" doc:"When the device sent it, by its own clock."`
	FirmwareVersion    *string         `json:"firmware_version,omitempty" nullable:"true" maxLength:"200"`
	BatteryPct         *float64        `json:"battery_pct,omitempty" nullable:"true" minimum:"0" maximum:"100"`
	BatteryV           *float64        `json:"battery_v,omitempty" nullable:"true" minimum:"1" maximum:"20" doc:"V, of a sensor's battery; its level is worked out where battery_pct is absent."`
	BatteryLow         *bool           `json:"battery_low,omitempty" nullable:"true" doc:"Whether the device says that its battery is low."`
	RSSIdBm            *float64        `json:"rssi_dbm,omitempty" nullable:"true" minimum:"-200" maximum:"50" doc:"dBm"`
	UptimeS            *int64          `json:"uptime_s,omitempty" nullable:"true" minimum:"0" maximum:"9007199254740991" doc:"s"`
	HeartbeatIntervalS *int            `json:"heartbeat_interval_s,omitempty" nullable:"true" minimum:"1" maximum:"604800" doc:"s until the next heartbeat at the latest. Takes precedence over what the service has learned."`
}

// TransformSchema implements huma.SchemaTransformer: what else a device sends is
// left out.
func (HeartbeatBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.AdditionalProperties = true
	s.Description = "Foreign fields are left out."
	return s
}

// HeartbeatData is the answer to a heartbeat.
type HeartbeatData struct {
	Device     wire.DeviceDetail `json:"device"`
	ServerTime rimewatch.Time    `json:"server_time" nullable:"false" doc:"For devices that set their clock by it."`
}

func (a devices) heartbeat(ctx context.Context, in *httpapi.SerialBody[*HeartbeatBody]) (HeartbeatData, error) {
	serial, err := in.Known()
	if err != nil {
		return HeartbeatData{}, err
	}
	c := httpapi.CallOf(ctx)
	var hb rimewatch.Heartbeat
	if b := in.Body; b != nil {
		hb = rimewatch.Heartbeat{BatteryPct: b.BatteryPct, RSSI: b.RSSIdBm, UptimeS: b.UptimeS}
		hb.BatteryLow = b.BatteryLow
		if b.BatteryV != nil && hb.BatteryPct == nil {
			if level, ok := rimewatch.BatteryLevel(*b.BatteryV); ok {
				hb.BatteryPct = &level
			}
		}
		hb.Offline = b.Status != nil && *b.Status == string(rimewatch.Offline)
		if b.SentAt != nil {
			hb.SentAt = *b.SentAt
		}
		if b.FirmwareVersion != nil {
			hb.FirmwareVersion = *b.FirmwareVersion
		}
		if b.HeartbeatIntervalS != nil {
			hb.HeartbeatIntervalS = *b.HeartbeatIntervalS
		}
	}
	v, err := a.cfg.Writer.Heartbeat(ctx, c.Workspace(), serial, hb)
	if err != nil {
		return HeartbeatData{}, err
	}
	return HeartbeatData{a.deviceDetail(&v, httpapi.CallOf(ctx).Words()), a.Now()}, nil
}

// EquipmentType is a type of equipment with its defaults.
type EquipmentType struct {
	Slug     string             `json:"slug" example:"walkin_freezer"`
	Label    string             `json:"label" example:"Walk-in freezer"`
	Category rimewatch.Category `json:"category"`
	Setpoint *float64           `json:"setpoint" doc:"°C, as is usual; null where there is none."`
	Limits   rimewatch.Limits   `json:"limits"`
	Defrost  rimewatch.Defrost  `json:"defrost"`
	TCS      bool               `json:"tcs" doc:"Holds food whose safety depends on time and temperature."`
	Basis    string             `json:"basis" doc:"Where the limits come from."`
}

// EquipmentTypeList is the catalogue.
type EquipmentTypeList struct {
	EquipmentTypes []EquipmentType `json:"equipment_types"`
}

func (a devices) listEquipmentTypes(ctx context.Context, _ *httpapi.NoInput) (EquipmentTypeList, error) {
	all := rimewatch.EquipmentTypes()
	words := httpapi.CallOf(ctx).Words()
	out := EquipmentTypeList{make([]EquipmentType, len(all))}
	for i := range all {
		e := &all[i]
		out.EquipmentTypes[i] = EquipmentType{e.Slug, words.Say(e.Label), e.Category, e.Setpoint, e.Limits, e.Defrost, e.TCS, words.Say(e.Basis)}
	}
	return out, nil
}
