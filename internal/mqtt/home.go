package mqtt

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/mochi-mqtt/server/v2/packets"

	"github.com/rimewatch/rimewatch"
)

// home publishes to a Home Assistant what is known of the devices, over the broker of a
// source: a retained description of every device, by which Home Assistant makes its
// entities (MQTT discovery by device, since 2024.11), and a retained state that
// follows it. It reads nothing back: whoever acknowledges an alert has a name, and
// whoever may publish to a broker has none.
type home struct {
	prefix string // of discovery, homeassistant
	node   string // what this source is called, in topics and identifiers
	due    time.Time

	units    map[int64]*announced // by device
	leftOver map[int64]bool       // described at the broker by an earlier connection
}

// announced is the published description of a device.
type announced struct {
	description, state string
	values             map[rimewatch.Field]float64 // the newest of each
	seen               bool
}

const (
	// announceEvery is how soon Home Assistant hears of a change.
	announceEvery = 5 * time.Second
	// maxAnnounced bounds the devices that are described.
	maxAnnounced = 2000
	// homeRoot begins the topics of states.
	homeRoot = "rimewatch/"
	// together is how much is written in one piece, in bytes.
	together = 64 << 10
)

// newHome returns nil for a source that publishes nothing.
func newHome(s *rimewatch.Source) *home {
	if s.Broker.Discovery == "" {
		return nil
	}
	return &home{prefix: s.Broker.Discovery, node: nodeID(s), units: make(map[int64]*announced), leftOver: make(map[int64]bool)}
}

// nodeID names this installation's source.
func nodeID(s *rimewatch.Source) string {
	return "rimewatch-" + base36(s.ID) + "-" + base36(int64(s.CreatedAt))
}

func (h *home) availability() string { return homeRoot + h.node + "/status" }

func (h *home) state(id int64) string {
	return homeRoot + h.node + "/" + strconv.FormatInt(id, 10) + "/state"
}

func (h *home) config(id string) string { return h.prefix + "/device/" + h.node + "/" + id + "/config" }

// own reports whether a message is one of ours, which the broker sends back where
// it matches what we have subscribed to, and notes devices that were described
// before.
func (h *home) own(pk *packets.Packet) bool {
	if h == nil {
		return false
	}
	if strings.HasPrefix(pk.TopicName, homeRoot+h.node+"/") {
		return true
	}
	before, after, _ := strings.Cut(h.config("*"), "*")
	id, ok := strings.CutPrefix(pk.TopicName, before)
	if !ok {
		return false
	}
	if n, err := strconv.ParseInt(strings.TrimSuffix(id, after), 10, 64); err == nil && len(pk.Payload) > 0 {
		h.leftOver[n] = true
	}
	return true
}

// entity is one that Home Assistant makes of a device.
type entity struct {
	Platform      string `json:"platform"`
	Name          string `json:"name"`
	UniqueID      string `json:"unique_id"`
	DeviceClass   string `json:"device_class,omitempty"`
	StateClass    string `json:"state_class,omitempty"`
	Unit          string `json:"unit_of_measurement,omitempty"`
	Digits        *int   `json:"suggested_display_precision,omitempty"`
	ValueTemplate string `json:"value_template"`
}

// classOf returns a measurement's class and unit in Home Assistant; "" for those
// that it has none for.
func classOf(f rimewatch.Field) (class, unit string) {
	switch unit = f.Info().Unit; unit {
	case "°C":
		return "temperature", unit
	case "%RH":
		return "humidity", "%"
	case "V":
		return "voltage", unit
	case "A":
		return "current", unit
	case "W":
		return "power", unit
	case "kWh":
		return "energy", unit
	case "kPa":
		return "pressure", unit
	case "ppm":
		return "carbon_dioxide", unit
	default:
		return "", ""
	}
}

// describe returns the description of a device.
func (h *home) describe(v *rimewatch.DeviceView, unit *announced) ([]byte, error) {
	id := h.node + "-" + strconv.FormatInt(v.ID, 10)
	components := map[string]entity{
		"status":  {Platform: "binary_sensor", Name: "Reporting", UniqueID: id + "-status", DeviceClass: "connectivity", ValueTemplate: "{{ value_json.reporting }}"},
		"problem": {Platform: "binary_sensor", Name: "Alert", UniqueID: id + "-problem", DeviceClass: "problem", ValueTemplate: "{{ value_json.problem }}"},
	}
	for f := range unit.values {
		info := f.Info()
		class, unit := classOf(f)
		e := entity{Platform: "sensor", Name: info.Label, UniqueID: id + "-" + info.Name, DeviceClass: class, StateClass: "measurement", Unit: unit, Digits: &info.Digits, ValueTemplate: "{{ value_json." + info.Name + " }}"}
		if class == "energy" {
			e.StateClass = "total_increasing"
		}
		components[info.Name] = e
	}
	device := map[string]any{"identifiers": []string{id}, "name": v.Name, "serial_number": v.Serial, "manufacturer": v.Manufacturer, "model": v.EquipmentType}
	if v.Model != "" {
		device["model"] = v.Model
	}
	if v.Site != nil {
		device["suggested_area"] = v.Site.Name
	}
	return json.Marshal(map[string]any{
		"device": device, "origin": map[string]any{"name": "Rimewatch"}, "components": components,
		"state_topic": h.state(v.ID), "availability_topic": h.availability(),
	})
}

func onOff(yes bool) string {
	if yes {
		return "ON"
	}
	return "OFF"
}

// stateOf returns the state of a device.
func stateOf(v *rimewatch.DeviceView, unit *announced) ([]byte, error) {
	state := map[string]any{"reporting": onOff(v.Status == rimewatch.Online), "problem": onOff(v.ActiveAlerts > 0), "active_alerts": v.ActiveAlerts}
	for f, value := range unit.values {
		state[f.String()] = value
	}
	return json.Marshal(state)
}

// errEnough ends a walk of the devices.
var errEnough = errors.New("enough")

// announce publishes what has changed since it last did. Devices that cannot be read
// at the moment follow the next time.
func (w *uplink) announce(ctx context.Context) error {
	h := w.home
	if h == nil || !w.subscribed || time.Now().Before(h.due) {
		return nil
	}
	first := h.due.IsZero()
	h.due = time.Now().Add(announceEvery)
	if first {
		if err := w.tell(h.availability(), []byte("online")); err != nil {
			return err
		}
	}
	for _, unit := range h.units {
		unit.seen = false
	}
	n := 0
	var failed error
	err := w.k.b.cfg.Fleet(ctx, w.k.source.WorkspaceID, func(v *rimewatch.DeviceView) error {
		if n++; n > maxAnnounced {
			return errEnough
		}
		failed = w.announceDevice(v)
		return failed
	})
	if failed != nil {
		return failed
	}
	if err != nil && !errors.Is(err, errEnough) {
		w.k.b.cfg.Log.Debug("tell Home Assistant", "source", w.k.source.ID, "err", err)
		return w.flush()
	}
	for id := range h.leftOver {
		delete(h.leftOver, id)
		if h.units[id] == nil {
			h.units[id] = new(announced)
		}
	}
	for id, unit := range h.units {
		if unit.seen {
			continue
		}
		if err := w.forgetDevice(id); err != nil {
			return err
		}
	}
	return w.flush()
}

// announceDevice describes a device, and publishes its state, where they have changed.
func (w *uplink) announceDevice(v *rimewatch.DeviceView) error {
	h := w.home
	unit := h.units[v.ID]
	if unit == nil {
		unit = &announced{values: make(map[rimewatch.Field]float64)}
		h.units[v.ID] = unit
	}
	unit.seen = true
	for f, value := range v.Latest.All() {
		if class, _ := classOf(f); class != "" {
			unit.values[f] = value
		}
	}
	if v.CurrentTempAt != 0 {
		unit.values[rimewatch.ProductZoneTemp] = v.CurrentTemp
	}
	description, err := h.describe(v, unit)
	if err != nil {
		return err
	}
	state, err := stateOf(v, unit)
	if err != nil {
		return err
	}
	if string(description) != unit.description {
		if err := w.tell(h.config(strconv.FormatInt(v.ID, 10)), description); err != nil {
			return err
		}
	}
	if string(state) != unit.state {
		if err := w.tell(h.state(v.ID), state); err != nil {
			return err
		}
	}
	unit.description, unit.state = string(description), string(state)
	return nil
}

// forgetDevice has Home Assistant remove a device.
func (w *uplink) forgetDevice(id int64) error {
	delete(w.home.units, id)
	return errors.Join(w.tell(w.home.config(strconv.FormatInt(id, 10)), nil), w.tell(w.home.state(id), nil))
}

// retract has Home Assistant remove all that was announced to it.
func (w *uplink) retract() error {
	if w.home == nil {
		return nil
	}
	for id := range w.home.units {
		if err := w.forgetDevice(id); err != nil {
			return err
		}
	}
	if err := w.tell(w.home.availability(), nil); err != nil {
		return err
	}
	// Who takes leave has no will, which would say that we are gone.
	if err := errors.Join(w.put(&packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Disconnect}}), w.flush()); err != nil {
		return err
	}
	return w.drain()
}

// drain reads until the broker has closed the connection. A connection that we
// close while it still sends us something is reset, and the broker forgets what it
// has not read yet.
func (w *uplink) drain() error {
	const atMost = 5 * time.Second
	for end := time.Now().Add(atMost); time.Now().Before(end); { // what ends reading may set its deadline once more
		if err := w.SetReadDeadline(end); err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, w.Conn); !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
	}
	return os.ErrDeadlineExceeded
}

// tell puts a retained message. It does not count as a sign that the broker is
// there: a PINGREQ asks that.
func (w *uplink) tell(topic string, payload []byte) error {
	err := w.put(&packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Publish, Retain: true}, TopicName: topic, Payload: payload})
	if err == nil && w.out.Len() > together {
		err = w.flush()
	}
	return err
}
