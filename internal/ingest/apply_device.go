package ingest

import (
	"cmp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/publish"
)

// applyDevice applies a settled device op to its unit.
func (e *evaluator) applyDevice(op *deviceOp, now rimewatch.Time) {
	d := &op.Device
	if op.who != "" {
		e.group.auditDevice(op, now)
	}
	event := publish.Device{Kind: publish.DeviceUpdated, WorkspaceID: d.WorkspaceID, DeviceID: d.ID, At: now}
	u := e.fleet.Get(d.ID)
	switch {
	case op.Create != nil:
		event.Kind = publish.DeviceCreated
		u = e.added(d)
	case u == nil:
		u = e.added(d) // created in this very group
	}
	st := e.stage(u)
	if op.Delete {
		event.Kind, event.Device = publish.DeviceDeleted, d
		e.group.excursions(st, st.State.Health.Finish(&st.Config.Health, now))
		st.gone = true
		for len(st.Alerts) > 0 {
			e.supersede(st, 0, now)
		}
	} else {
		left := st.siteID
		if op.Change != nil && (left != d.SiteID || op.Was.EquipmentType != d.EquipmentType) {
			e.group.moved(st.Alerts, rimewatch.Place{SiteID: left, EquipmentType: op.Was.EquipmentType}, now)
		}
		if left != d.SiteID {
			if op.Create == nil {
				event.Left = &left
			}
			st.siteID = d.SiteID
			e.releasePredictions(st, now)
			e.inhibitOffline(st, nil, now)
		}
		was := st.Config
		st.Config = e.fleet.Configs.Get(e.encodeConfig(d))
		st.State.Configured(was, st.Config)
		e.group.formerLimits(st, was, now)
		st.summarized = false
		out, _ := st.State.Step(st.Config, e.fleet.Downtimes(), &engine.Input{Kind: engine.Tick}, now, e.group.scratch[:0])
		e.transitions(st, out, now)
	}
	e.group.events.Devices = append(e.group.events.Devices, event)
}

// added makes the unit of a device that the group creates, or finds it.
func (e *evaluator) added(d *rimewatch.Device) *unit {
	for i := range e.group.staged {
		if e.group.staged[i].Device.ID == d.ID {
			return e.group.staged[i].Device
		}
	}
	u := &unit{ID: d.ID, WorkspaceID: d.WorkspaceID, CreatedAt: d.CreatedAt, Added: true}
	u.Config = e.fleet.Configs.Get(e.encodeConfig(d))
	return u
}

// encode makes the log's form of the device. The writer goroutine calls it.
func (op *deviceOp) encode(e *evaluator) {
	if d := cmp.Or(op.Create, op.Change); d != nil {
		op.Payload = e.encodeConfig(d)
	}
}
