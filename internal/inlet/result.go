package inlet

import (
	"cmp"

	"github.com/rimewatch/rimewatch"
)

// ResultJSON is a Result for people.
type ResultJSON struct {
	Template string     `json:"template" doc:"The template that the payload was read by."`
	Ignored  bool       `json:"ignored" doc:"The payload is of a kind that holds no reading, such as a join; problem has why."`
	Problem  *string    `json:"problem" doc:"Why nothing could be read."`
	Items    []ItemJSON `json:"items"`
}

// ItemJSON are the measurements of one sender at one moment.
type ItemJSON struct {
	ExternalID string             `json:"external_id" doc:"What the sender calls itself; of one of its sensors, with what tells that from the others."`
	Board      string             `json:"board" doc:"What the board is called that the sensor is of, which may have others; empty where it is a sender of its own."`
	Label      string             `json:"label"`
	RecordedAt rimewatch.Time     `json:"recorded_at" doc:"null: as it arrives."`
	Problem    *string            `json:"problem" doc:"Why it cannot be stored."`
	BatteryPct *float64           `json:"battery_pct"`
	RSSI       *float64           `json:"rssi_dbm"`
	Readings   []ItemReading      `json:"readings" doc:"One for each device that the sender is bound to."`
	Values     map[string]float64 `json:"values" doc:"Every number in the payload, by the expression that a binding can name."`
}

// ItemReading is a reading of one device.
type ItemReading struct {
	DeviceSerial *string            `json:"device_serial" doc:"null: the sender is not bound."`
	Measurements map[string]float64 `json:"measurements"`
	Observations map[string]bool    `json:"observations"`
	SensorFaults []string           `json:"sensor_faults"`
	Fields       []FieldJSON        `json:"fields"`
}

// FieldJSON is where a value came from, or why there is none.
type FieldJSON struct {
	Name       string  `json:"name"`
	Expression string  `json:"expression"`
	Found      any     `json:"found" doc:"What the expression returned."`
	Problem    *string `json:"problem"`
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// JSON returns the result in the form that the API and the command line show, in the
// language in which say returns an English text.
func (r *Result) JSON(say func(english string) string) ResultJSON {
	problem := func(stored string) *string { return orNull(rimewatch.SentenceOf(stored).In(say)) }
	out := ResultJSON{Template: r.Template, Ignored: r.Ignored != "", Problem: problem(cmp.Or(r.Problem, r.Ignored)), Items: []ItemJSON{}}
	for i := range r.Items {
		x := &r.Items[i]
		item := ItemJSON{ExternalID: x.Name(), Label: x.Label, RecordedAt: x.At, Problem: problem(cmp.Or(x.Problem, x.Unset)), BatteryPct: x.Device.BatteryPct, RSSI: x.Device.RSSI,
			Readings: []ItemReading{}, Values: map[string]float64{}}
		if x.Part != "" {
			item.Board = x.ID
		}
		for _, v := range x.Values {
			item.Values[v.Expression] = v.Value
		}
		for j := range x.Readings {
			item.Readings = append(item.Readings, x.Readings[j].json(problem))
		}
		out.Items = append(out.Items, item)
	}
	return out
}

func (r *Reading) json(problem func(string) *string) ItemReading {
	out := ItemReading{DeviceSerial: orNull(r.Serial), Measurements: map[string]float64{}, Observations: map[string]bool{}, SensorFaults: r.Reading.Faults.Names(), Fields: []FieldJSON{}}
	for f, v := range r.Reading.All() {
		out.Measurements[f.String()] = v
	}
	for f := range rimewatch.NumFlags {
		if yes, ok := r.Reading.Flags.Bool(f); ok {
			out.Observations[f.String()] = yes
		}
	}
	for _, f := range r.Fields {
		found := f.Found
		switch found.(type) {
		case nil, float64, bool, int:
		default:
			found = f.FoundText()
		}
		out.Fields = append(out.Fields, FieldJSON{f.Name, f.Expression, found, problem(f.Problem)})
	}
	return out
}
