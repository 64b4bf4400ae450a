package submit

import (
	"errors"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// ReadingBody is a reading as devices send it. The ingest routes decode it by
// hand; this is its description, and a test holds the two together.
type ReadingBody struct {
	DeviceSerial string          `json:"device_serial" minLength:"1" maxLength:"64" pattern:"^[A-Za-z0-9._:-]{1,64}$" patternDescription:"1 to 64 of the characters A-Z a-z 0-9 . _ : -" example:"WIF-0001"`
	RecordedAt   *rimewatch.Time `json:"recorded_at,omitempty" nullable:"true" doc:"When it was measured; at most 5 minutes ahead and within the retention. Kept to the millisecond. Default: arrival, moved to the device's next free millisecond."`
}

// readingInput is a reading with the parameters of its request.
type readingInput struct {
	httpapi.BodyInput[ReadingBody]
	DryRun string `query:"dry_run" enum:"true,false" doc:"true: answers 200 with what would become of the reading (dry_run, would, device_serial), and does nothing else."`
}

// batchInput is a batch with what its request may say. Who asks for a dry run means that nothing is
// stored: it is refused, and not ignored as an unknown parameter would be.
type batchInput struct {
	httpapi.BodyInput[ReadingBatch]
	DryRun string `query:"dry_run" enum:"false" doc:"A dry run is of single readings."`
}

// StoredReading is the data of the answer to one reading.
type StoredReading struct {
	Reading   wire.DeviceReading `json:"reading"`
	Ignored   []string           `json:"ignored_fields,omitempty" doc:"Fields that are not known here and were left out, the first 32. Absent when there are none."`
	Conflicts []string           `json:"conflicting_fields,omitempty" doc:"Measurements of which another value is stored for the same moment: it is kept. Absent when there are none."`
	Duplicate bool               `json:"duplicate" doc:"A reading of this device and moment was stored before; reading shows that one."`
}

// HeldReading is the data of the answer to a reading that waits.
type HeldReading struct {
	Held         bool            `json:"held" doc:"Always true here: the reading is kept until somebody accepts the device, and stored with its own time then."`
	DeviceSerial string          `json:"device_serial"`
	Waiting      WaitingReadings `json:"waiting"`
	Ignored      []string        `json:"ignored_fields,omitempty" doc:"Fields that are not known here, the first 32. Absent when there are none."`
}

// WaitingReadings is why readings wait, and how they are stored.
type WaitingReadings struct {
	Reason    string         `json:"reason" doc:"For people, in English."`
	KeptUntil rimewatch.Time `json:"kept_until" nullable:"false" doc:"When they are deleted if nobody has accepted the device."`
	Accept    Accept         `json:"accept"`
}

// Accept names the two ways to accept a device.
type Accept struct {
	Page   string `json:"page" doc:"Address of the page for people."`
	Method string `json:"method"`
	Path   string `json:"path" doc:"Of the call for programs: its body names the serial as external_id."`
	Scope  string `json:"scope" doc:"What a token needs for it."`
}

// ReadingBatch is the body of a batch.
type ReadingBatch struct {
	Readings []ReadingBody `json:"readings" minItems:"1" maxItems:"10000"`
}

// BatchResult is the outcome of a batch.
type BatchResult struct {
	Accepted   int              `json:"accepted"`
	Duplicates int              `json:"duplicates"`
	Held       int              `json:"held" doc:"Readings that wait until somebody accepts their devices."`
	Rejected   int              `json:"rejected"`
	Waiting    *WaitingReadings `json:"waiting,omitempty" doc:"Of those that are held. Absent when there are none."`
	Ignored    []string         `json:"ignored_fields,omitempty" doc:"Fields of items that are not known here and were left out, the first 32. Absent when there are none."`
	Results    []BatchRejected  `json:"results" doc:"Only the rejected items."`
}

// BatchRejected is one item that was not stored.
type BatchRejected struct {
	Index  int                 `json:"index" doc:"Place in the batch, from 0; blank lines do not count."`
	Status int                 `json:"status" doc:"The HTTP status that the item would have got alone."`
	Code   rimewatch.Code      `json:"code"`
	Fields map[string][]string `json:"fields"`
}

// TransformSchema implements huma.SchemaTransformer.
func (ReadingBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	for f := range rimewatch.AllFields.All() {
		info := f.Info()
		p := httpapi.FieldSchema(&info)
		p.Nullable = true
		p.Minimum, p.Maximum = &info.Min, &info.Max
		p.Description = info.Doc
		p.Examples = []any{info.Example}
		s.Properties[f.String()] = p
	}
	for x := range rimewatch.NumFlags {
		s.Properties[x.String()] = &huma.Schema{Type: huma.TypeBoolean, Nullable: true}
	}
	s.AdditionalProperties = true
	s.Description = lenience
	return s
}

// lenience describes the forms of a reading that are accepted beyond its schema.
const lenience = "Numbers may be sent as text that is a number. The time may also be a number of seconds or milliseconds since 1970, and be called timestamp, ts or time where recorded_at is absent; or age_s says how many seconds ago it was. A time before 2015, or a number below 10⁹, comes from a clock that is not set: the reading has the time of its arrival and clock_unset. battery_pct, battery_v, battery_low, rssi_dbm and firmware_version update the device. Foreign fields are left out and named in ignored_fields; a name that is nearly a known one is refused, so that a misspelt measurement does not vanish."

// describedOnly stands in for handlers of routes that are served past the
// router.
func describedOnly(*httpapi.Call) error { return errors.New("this route is served elsewhere") }

func (g *Readings) routes() []httpapi.Route {
	write := httpapi.Scope(rimewatch.ScopeReadingsWrite)
	return []httpapi.Route{
		{
			Method: http.MethodPost, Path: singlePath, Sited: true, ID: "store-reading", Tag: "Readings", Summary: "Store a reading", Access: write, Body: httpapi.JSONBody,
			Description: "Answers 201 only after the reading is on stable storage. Sending the same device and recorded_at again returns 200 with `duplicate: true`, and the first value is kept: a retry is always safe. What such a reading has beside the stored one is another reading, at the device's next free millisecond.\n\n" +
				"What becomes of a reading whose serial is not known is a setting of the workspace, `on_unknown`. By default it waits, and 202 is the answer: it is kept for up to seven days under the source `api` and stored with its own time when somebody accepts the device.\n\n" +
				"At least one measurement is needed, or the state of a door, a compressor or a defrost; the others may be absent or null. The numbers by which broken sensors report themselves (−127, ±999, 998, 1998–1999.9), where they lie outside the field's range, are stored as null and named in `sensor_faults`.",
			Status: http.StatusCreated, OrOK: true, Dry: reflect.TypeFor[DryRun](), Accepted: reflect.TypeFor[HeldReading](), Also: []rimewatch.Code{rimewatch.CodeUnknownDevice, rimewatch.CodeHeldFull}, Bind: httpapi.Raw[readingInput, StoredReading](describedOnly), Direct: g.served(&g.singleMeter, g.serveSingle),
		},
		{
			Method: http.MethodPost, Path: batchPath, Sited: true, ID: "store-readings", Tag: "Readings", Summary: "Store many readings", Access: write,
			Body: httpapi.BodyRule{Types: []string{httpapi.TypeJSON, httpapi.TypeNDJSON}, Bulk: true},
			Description: "Up to 10,000 readings as `{\"readings\":[…]}` or as NDJSON, one a line; gzip and zstd are understood. Good items are stored even when others are bad. " +
				"A bad NDJSON line rejects that item, a malformed JSON document is refused whole. " +
				"After an error some of more than a thousand readings may be stored: sent again, those with a `recorded_at` are duplicates.",
			Bind: httpapi.Raw[batchInput, BatchResult](describedOnly), Direct: g.served(&g.batchMeter, g.serveBatch),
		},
	}
}
