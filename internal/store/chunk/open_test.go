package chunk

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"reflect"
	"slices"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// The forms as the first release writes them, with the eight core measurements
// and no others. They must read the same for ever.
const (
	oldChunk   = "02039ffe030c020606060508060806080708010f80a0a484ce67e0d40302000201050010001401050010001401050030000901010000240135fa01e80700240125326400240135ee05e807002401150a1400040135e209e8070024012596016400240135d60de80700242c40583a"
	oldRow     = "043080d30ed00f1087cd108a0e87c712c90187c1149a1187bb16"
	oldSummary = "010380a0a484ce67c0a907000000101800877d87cd1087af1a00ca018a0eba170087f70287c712879d200129c901180087f10487c114878b2600da049a11ea200087eb0687bb1687f92b"
)

const oldStart = rimewatch.Time(1_780_000_000_000)

func oldReadings() []rimewatch.Reading {
	rs := make([]rimewatch.Reading, 3)
	for i := range rs {
		r := &rs[i]
		r.At = oldStart + rimewatch.Time(i)*rimewatch.Minute
		r.ReceivedAt = r.At + rimewatch.Second
		for f := range rimewatch.NumCore {
			r.Set(f, float64(i)+float64(f)/8)
		}
	}
	rs[1].Present &^= 1 << rimewatch.Humidity
	rs[1].Values[rimewatch.Humidity] = 0
	rs[1].Faults = rs[1].Faults.With(rimewatch.Humidity)
	rs[2].Flags = rs[2].Flags.WithBool(rimewatch.DoorOpen, true)
	return rs
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decoded(t *testing.T, blob []byte) []rimewatch.Reading {
	t.Helper()
	c, err := Open(blob)
	if err != nil {
		t.Fatal(err)
	}
	rs, err := c.Readings(nil)
	if err != nil {
		t.Fatal(err)
	}
	return rs
}

func TestOldFormsAreRead(t *testing.T) {
	want := oldReadings()
	if got := hex.EncodeToString(Encode(nil, want)); got != oldChunk {
		t.Errorf("a chunk is written as %s", got)
	}
	if got := decoded(t, unhex(t, oldChunk)); !reflect.DeepEqual(got, want) {
		t.Errorf("the chunk reads as %+v", got)
	}
	if got := hex.EncodeToString(AppendReading(nil, &want[2], oldStart)); got != oldRow {
		t.Errorf("a row is written as %s", got)
	}
	var r rimewatch.Reading
	if _, err := DecodeReading(unhex(t, oldRow), &r, oldStart); err != nil || !reflect.DeepEqual(r, want[2]) {
		t.Errorf("the row reads as %+v, %v", r, err)
	}
	sum := Summarize(want)
	if got := hex.EncodeToString(sum.Append(nil)); got != oldSummary {
		t.Errorf("a summary is written as %s", got)
	}
	if got, _, err := DecodeSummary(unhex(t, oldSummary)); err != nil || !reflect.DeepEqual(got, sum) {
		t.Errorf("the summary reads as %+v, %v", got, err)
	}
}

// TestAddedMeasurement takes the last number, which no row of the table has, for a
// measurement that a later version adds: nothing here needs to know it, and what
// was written before stays readable beside it.
func TestAddedMeasurement(t *testing.T) {
	const added = rimewatch.MaxFields - 1
	if rimewatch.AllFields.Has(added) {
		t.Fatal("the test needs a number without a name")
	}
	old := decoded(t, unhex(t, oldChunk))
	later := oldReadings()
	for i := range later {
		later[i].At += rimewatch.Hour
		later[i].ReceivedAt += rimewatch.Hour
		later[i].Set(added, 7.25+float64(i))
		later[i].Faults = later[i].Faults.With(added)
	}
	for i := range later {
		var r rimewatch.Reading
		if _, err := DecodeReading(AppendReading(nil, &later[i], 0), &r, 0); err != nil || !reflect.DeepEqual(r, later[i]) {
			t.Errorf("row: %+v, %v", r, err)
		}
	}
	both := slices.Concat(old, later)
	blob := Encode(nil, both)
	if got := decoded(t, blob); !reflect.DeepEqual(got, both) {
		t.Errorf("chunk: %+v", got)
	}
	sum := Summarize(both)
	got, _, err := DecodeSummary(sum.Append(nil))
	want := Aggregate{Count: 3, Min: 7.25, Max: 9.25, Sum: 24.75}
	if err != nil || got.Aggregate(added) != want || got.Aggregate(rimewatch.Voltage).Count != 6 {
		t.Errorf("summary: %+v, %v", got, err)
	}
	b, err := NewBuckets(oldStart, oldStart+rimewatch.Day, rimewatch.Hour, rimewatch.Fields(0).With(added).With(rimewatch.Voltage))
	if err != nil {
		t.Fatal(err)
	}
	for _, blob := range [][]byte{unhex(t, oldChunk), Encode(nil, later)} {
		c, err := Open(blob)
		if err == nil {
			err = b.AddChunk(c, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if b.Aggregate(0, added).Count != 0 || b.Aggregate(1, added) != want || b.Aggregate(0, rimewatch.Voltage).Count != 3 {
		t.Errorf("buckets: %+v %+v", b.Aggregate(0, added), b.Aggregate(1, added))
	}
}

// TestNewerForms: what a newer program wrote is not called damaged.
func TestNewerForms(t *testing.T) {
	seal := func(body []byte) []byte {
		return binary.LittleEndian.AppendUint32(body, crc32.Checksum(body, castagnoli))
	}
	chunk := func(columns uint64) []byte {
		body := binary.AppendUvarint([]byte{version, 1}, columns)
		return seal(append(body, 1, columnConstant))
	}
	other := unhex(t, oldChunk)
	other[0]++
	wide := rimewatch.Reading{At: oldStart}
	row := AppendReading(nil, &wide, oldStart)
	row = append([]byte{row[0] | rowFlags, row[1], 0x80, 0x80, 0x80, 0x80, 0x10}, row[2:]...) // observation 16
	sum := unhex(t, oldSummary)
	sum[0] = summaryRestarts + 1
	for name, err := range map[string]error{
		"a version of a chunk":     second(Open(seal(other[:len(other)-4]))),
		"a column":                 second(Open(chunk(1 << 6))),
		"a measurement of a chunk": second(Open(chunk(1 << (columnField + rimewatch.MaxFields)))),
		"an observation of a row":  second(DecodeReading(row, &wide, oldStart)),
		"a version of a summary":   third(DecodeSummary(sum)),
		"a measurement of a sum":   third(DecodeSummary([]byte{summaryVersion, 1, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x7f})),
	} {
		if !errors.Is(err, errNewer) && !errors.Is(err, errVersion) {
			t.Errorf("%s that is not known: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error        { return err }
func third[T, U any](_ T, _ U, err error) error { return err }
