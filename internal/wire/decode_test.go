package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
	_ "github.com/rimewatch/rimewatch/internal/trial"
)

const (
	nominalBody = `{"device_serial":"WIF-0001","product_zone_temp":-18.5,"compressor_discharge_temp":85.2,"compressor_suction_temp":-5.1,"ambient_temp":24.8,"humidity":45,"voltage":230.4,"amp_draw":8.2,"vibration_level":2.1}`

	noon = rimewatch.Time(1_795_176_000_000) // 2026-11-20T12:00:00Z
)

// decodeCase is a body and what is to become of it.
type decodeCase struct {
	name, body string
	code       rimewatch.Code // "" = accepted
	field      string         // that must be named
	check      func(r *SentReading) bool
}

func checkDecode(t *testing.T, tests []decodeCase) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out SentReading
			e := DecodeReading([]byte(tt.body), &out)
			switch {
			case tt.code == "" && e != nil:
				t.Fatalf("refused: %v %v", e, e.Fields)
			case tt.code == "":
				if tt.check != nil && !tt.check(&out) {
					t.Errorf("decoded %+v", out)
				}
			case e == nil:
				t.Fatalf("accepted as %+v", out)
			case e.Code != tt.code:
				t.Errorf("code %s, want %s", e.Code, tt.code)
			case tt.field != "" && len(e.Fields[tt.field]) == 0:
				t.Errorf("fields %v do not name %s", e.Fields, tt.field)
			}
		})
	}
}

const serial = `"device_serial":"A"`

func TestDecodeReading(t *testing.T) {
	checkDecode(t, []decodeCase{
		{"nominal", nominalBody, "", "", func(r *SentReading) bool {
			return string(r.Serial) == "WIF-0001" && r.Present == rimewatch.CoreFields && r.Values[rimewatch.Voltage] == 230.4 && r.At == 0
		}},
		{"one measurement", `{` + serial + `,"humidity":0}`, "", "", func(r *SentReading) bool { return r.Present == 1<<rimewatch.Humidity }},
		{"others null", `{` + serial + `,"humidity":1,"voltage":null,"recorded_at":null,"door_open":null,"start_count":null}`, "", "", func(r *SentReading) bool {
			return r.Present == 1<<rimewatch.Humidity && r.Flags == 0 && r.At == 0
		}},
		{"white space", " \t\r\n{ " + serial + " , \"humidity\" : 1 } \n", "", "", nil},
		{"exponent", `{` + serial + `,"humidity":4.5E+1}`, "", "", func(r *SentReading) bool { return r.Values[rimewatch.Humidity] == 45 }},
		{"minus zero", `{` + serial + `,"ambient_temp":-0.0}`, "", "", func(r *SentReading) bool { return !math.Signbit(r.Values[rimewatch.AmbientTemp]) }},
		{"escaped serial", `{"device_serial":"\u0041","humidity":1}`, "", "", func(r *SentReading) bool { return string(r.Serial) == "A" }},
		{"escaped key", `{"device_serial":"A","humidit\u0079":7}`, "", "", func(r *SentReading) bool { return r.Values[rimewatch.Humidity] == 7 }},
		{"extras", `{` + serial + `,"humidity":1,"compressor_on":true,"defrost_active":false,"door_open":true,"start_count":12,"run_seconds":345}`, "", "", func(r *SentReading) bool {
			on, ok1 := r.Flags.Bool(rimewatch.CompressorOn)
			defrost, ok2 := r.Flags.Bool(rimewatch.DefrostActive)
			door, ok3 := r.Flags.Bool(rimewatch.DoorOpen)
			return on && !defrost && door && ok1 && ok2 && ok3 && slices.Equal(r.Optional, []float64{12, 345}) && r.Present.Has(rimewatch.StartCount) && r.Present.Has(rimewatch.RunSeconds)
		}},
		{"time in another zone", `{` + serial + `,"humidity":1,"recorded_at":"2026-11-20T13:00:00.0009+01:00"}`, "", "", func(r *SentReading) bool { return r.At == noon }},
		{"time", `{` + serial + `,"humidity":1,"recorded_at":"2026-11-20T12:00:00.25Z"}`, "", "", func(r *SentReading) bool { return r.At == noon+250 }},
		{"sentinel alone", `{` + serial + `,"product_zone_temp":-127}`, "", "", func(r *SentReading) bool { return r.Faults == 1 && r.Present == 0 }},
		{"sentinels", `{` + serial + `,"product_zone_temp":999,"ambient_temp":-999.0,"humidity":998,"voltage":1998.5,"compressor_suction_temp":1999.9,"amp_draw":12}`, "", "", func(r *SentReading) bool {
			return r.Faults.Len() == 5 && r.Present == 1<<rimewatch.AmpDraw
		}},
		{"no sentinel inside the range", `{` + serial + `,"amp_draw":999}`, "", "", func(r *SentReading) bool { return r.Values[rimewatch.AmpDraw] == 999 && r.Faults == 0 }},
		{"bounds", `{` + serial + `,"product_zone_temp":-100,"ambient_temp":200,"humidity":100,"voltage":1000,"amp_draw":2000,"vibration_level":500}`, "", "", nil},

		{"empty", ``, rimewatch.CodeInvalidJSON, "", nil},
		{"array", `[]`, rimewatch.CodeInvalidJSON, "", nil},
		{"number", `1`, rimewatch.CodeInvalidJSON, "", nil},
		{"null", `null`, rimewatch.CodeInvalidJSON, "", nil},
		{"trailing bytes", nominalBody + `x`, rimewatch.CodeInvalidJSON, "", nil},
		{"trailing object", nominalBody + `{}`, rimewatch.CodeInvalidJSON, "", nil},
		{"trailing comma", `{` + serial + `,"humidity":1,}`, rimewatch.CodeInvalidJSON, "", nil},
		{"cut off", nominalBody[:len(nominalBody)-1], rimewatch.CodeInvalidJSON, "", nil},
		{"duplicate key", `{` + serial + `,"humidity":1,"humidity":1}`, rimewatch.CodeInvalidJSON, "", nil},
		{"duplicate serial", `{` + serial + `,"humidity":1,` + serial + `}`, rimewatch.CodeInvalidJSON, "", nil},
		{"duplicate by escape", `{` + serial + `,"humidity":1,"humidit\u0079":1}`, rimewatch.CodeInvalidJSON, "", nil},
		{"duplicate in an unknown object", `{` + serial + `,"humidity":1,"x":{"a":1,"a":2}}`, rimewatch.CodeInvalidJSON, "", nil},
		{"invalid UTF-8", "{\"device_serial\":\"A\xff\",\"humidity\":1}", rimewatch.CodeInvalidJSON, "", nil},
		{"overlong UTF-8", "{\"x\":\"\xc0\x80\",\"humidity\":1}", rimewatch.CodeInvalidJSON, "", nil},
		{"lone surrogate", `{"device_serial":"\ud800","humidity":1}`, rimewatch.CodeInvalidJSON, "", nil},
		{"NUL byte", "{\"device_serial\":\"A\x00\",\"humidity\":1}", rimewatch.CodeInvalidJSON, "", nil},
		{"NaN", `{` + serial + `,"humidity":NaN}`, rimewatch.CodeInvalidJSON, "", nil},
		{"leading zero", `{` + serial + `,"humidity":01}`, rimewatch.CodeInvalidJSON, "", nil},
		{"leading plus", `{` + serial + `,"humidity":+1}`, rimewatch.CodeInvalidJSON, "", nil},
		{"bare point", `{` + serial + `,"humidity":1.}`, rimewatch.CodeInvalidJSON, "", nil},
		{"hex", `{` + serial + `,"humidity":0x10}`, rimewatch.CodeInvalidJSON, "", nil},
		{"comment", `{` + serial + `,/**/"humidity":1}`, rimewatch.CodeInvalidJSON, "", nil},
		{"single quotes", `{'device_serial':'A'}`, rimewatch.CodeInvalidJSON, "", nil},
		{"too deep", `{"x":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`, rimewatch.CodeInvalidJSON, "", nil},
		{"very deep", strings.Repeat(`{"x":`, 100_000), rimewatch.CodeInvalidJSON, "", nil},
		{"byte order mark", "\ufeff" + nominalBody, rimewatch.CodeInvalidJSON, "", nil},

		{"no serial", `{"humidity":1}`, rimewatch.CodeValidationFailed, "device_serial", nil},
		{"null serial", `{"device_serial":null,"humidity":1}`, rimewatch.CodeValidationFailed, "device_serial", nil},
		{"serial a number", `{"device_serial":1,"humidity":1}`, rimewatch.CodeValidationFailed, "device_serial", nil},
		{"empty serial", `{"device_serial":"","humidity":1}`, rimewatch.CodeValidationFailed, "device_serial", nil},
		{"serial with a space", `{"device_serial":"A B","humidity":1}`, rimewatch.CodeValidationFailed, "device_serial", nil},
		{"serial with NUL", `{"device_serial":"A\u0000","humidity":1}`, rimewatch.CodeValidationFailed, "device_serial", nil},
		{"serial dot dot", `{"device_serial":"..","humidity":1}`, rimewatch.CodeValidationFailed, "device_serial", nil},
		{"serial too long", `{"device_serial":"` + strings.Repeat("a", 65) + `","humidity":1}`, rimewatch.CodeValidationFailed, "device_serial", nil},
		{"no measurement", `{` + serial + `}`, rimewatch.CodeValidationFailed, "product_zone_temp", nil},
		{"only nulls", `{` + serial + `,"humidity":null}`, rimewatch.CodeValidationFailed, "humidity", nil},
		{"mis-cased key", `{` + serial + `,"humidity":1,"Voltage":230}`, rimewatch.CodeValidationFailed, "Voltage", nil},
		{"misspelt key", `{` + serial + `,"humidity":1,"vibration_levl":2}`, rimewatch.CodeValidationFailed, "vibration_levl", nil},
		{"mis-cased serial", `{"Device_Serial":"A","humidity":1}`, rimewatch.CodeValidationFailed, "Device_Serial", nil},
		{"text for a number", `{` + serial + `,"humidity":"45 %"}`, rimewatch.CodeValidationFailed, "humidity", nil},
		{"bool for a number", `{` + serial + `,"humidity":true}`, rimewatch.CodeValidationFailed, "humidity", nil},
		{"object for a number", `{` + serial + `,"humidity":{}}`, rimewatch.CodeValidationFailed, "humidity", nil},
		{"number for a bool", `{` + serial + `,"humidity":1,"door_open":1}`, rimewatch.CodeValidationFailed, "door_open", nil},
		{"out of range", `{` + serial + `,"humidity":100.1}`, rimewatch.CodeValidationFailed, "humidity", nil},
		{"below the range", `{` + serial + `,"voltage":-0.1}`, rimewatch.CodeValidationFailed, "voltage", nil},
		{"no sentinel", `{` + serial + `,"product_zone_temp":-128}`, rimewatch.CodeValidationFailed, "product_zone_temp", nil},
		{"huge number", `{` + serial + `,"humidity":1e400}`, rimewatch.CodeValidationFailed, "humidity", nil},
		{"huge digits", `{` + serial + `,"humidity":` + strings.Repeat("9", 5000) + `}`, rimewatch.CodeValidationFailed, "humidity", nil},
		{"negative count", `{` + serial + `,"humidity":1,"start_count":-1}`, rimewatch.CodeValidationFailed, "start_count", nil},
		{"fraction for a count", `{` + serial + `,"humidity":1,"start_count":1.5}`, rimewatch.CodeValidationFailed, "start_count", nil},
		{"float form of a count", `{` + serial + `,"humidity":1,"run_seconds":1.0}`, rimewatch.CodeValidationFailed, "run_seconds", nil},
		{"huge count", `{` + serial + `,"humidity":1,"run_seconds":99999999999999999999}`, rimewatch.CodeValidationFailed, "run_seconds", nil},
		{"not a time", `{` + serial + `,"humidity":1,"recorded_at":"yesterday"}`, rimewatch.CodeValidationFailed, "recorded_at", nil},
		{"time a number before 2015", `{` + serial + `,"humidity":1,"recorded_at":1063640000}`, rimewatch.CodeValidationFailed, "recorded_at", nil},
		{"no such day", `{` + serial + `,"humidity":1,"recorded_at":"2026-02-30T00:00:00Z"}`, rimewatch.CodeValidationFailed, "recorded_at", nil},
		{"time without a zone", `{` + serial + `,"humidity":1,"recorded_at":"2026-11-20T12:00:00"}`, rimewatch.CodeValidationFailed, "recorded_at", nil},
		{"time before 1970", `{` + serial + `,"humidity":1,"recorded_at":"1969-12-31T23:59:59Z"}`, rimewatch.CodeValidationFailed, "recorded_at", nil},
	})
}

func TestDecodeOptional(t *testing.T) {
	checkDecode(t, []decodeCase{
		{"optional measurements, in any order", `{` + serial + `,"co2":812,"setpoint_temp":-20,"energy":12345.678,"power":1250.5}`, "", "", func(r *SentReading) bool {
			return slices.Equal(r.Optional, []float64{-20, 1250.5, 12345.678, 812}) &&
				slices.Equal(r.Present.Names(), []string{"setpoint_temp", "power", "energy", "co2"})
		}},
		{"optional bounds", `{` + serial + `,"setpoint_temp":-100,"evaporator_temp":200,"liquid_line_temp":200,"suction_pressure":-100,"discharge_pressure":16000,"power":1000000,"energy":0,"co2":100000,"start_count":9007199254740991}`, "", "", func(r *SentReading) bool {
			return r.Present.Len() == 9
		}},
		{"optional sentinel", `{` + serial + `,"energy":-999,"discharge_pressure":-127,"co2":1999}`, "", "", func(r *SentReading) bool {
			return slices.Equal(r.Faults.Names(), []string{"discharge_pressure", "energy"}) && slices.Equal(r.Optional, []float64{1999})
		}},
		{"sentinel for a count", `{` + serial + `,"humidity":1,"start_count":-127}`, rimewatch.CodeValidationFailed, "start_count", nil},
		{"pressure out of range", `{` + serial + `,"suction_pressure":6000.5}`, rimewatch.CodeValidationFailed, "suction_pressure", nil},
		{"negative energy", `{` + serial + `,"energy":-0.1}`, rimewatch.CodeValidationFailed, "energy", nil},
		{"too much power", `{` + serial + `,"power":1000001}`, rimewatch.CodeValidationFailed, "power", nil},
		{"mis-cased time", `{` + serial + `,"humidity":1,"Timestamp":"2026-11-20T12:00:00Z"}`, rimewatch.CodeValidationFailed, "Timestamp", nil},
		{"mis-cased short time", `{` + serial + `,"humidity":1,"TS":1800000000}`, rimewatch.CodeValidationFailed, "TS", nil},
		{"misspelt time", `{` + serial + `,"humidity":1,"timestmp":1800000000}`, rimewatch.CodeValidationFailed, "timestmp", nil},
		{"mis-cased vital", `{` + serial + `,"humidity":1,"Battery_Pct":80}`, rimewatch.CodeValidationFailed, "Battery_Pct", nil},
		{"time beyond all numbers", `{` + serial + `,"humidity":1,"recorded_at":1e999}`, rimewatch.CodeValidationFailed, "recorded_at", nil},
		{"misspelt optional key", `{` + serial + `,"humidity":1,"suctionPressure":200}`, rimewatch.CodeValidationFailed, "suctionPressure", nil},
	})
}

func TestAllBadFieldsAreNamed(t *testing.T) {
	var out SentReading
	e := DecodeReading([]byte(`{"device_serial":"?","humidity":101,"voltag":1,"amp_draw":"x","door_open":2,"recorded_at":1e999}`), &out)
	if e == nil {
		t.Fatal("accepted")
	}
	want := map[string][]string{
		"device_serial": {"must be 1 to 64 of the characters A-Z a-z 0-9 . _ : -"},
		"humidity":      {"must be between 0 and 100"},
		"voltag":        {"is not a known field, did you mean voltage?"},
		"amp_draw":      {"must be a number"},
		"door_open":     {"must be true or false"},
		"recorded_at":   {"is not a time from 2015 to 2106 in seconds, milliseconds, microseconds or nanoseconds since 1970"},
	}
	if diff := cmp.Diff(want, e.Fields); diff != "" {
		t.Error(diff)
	}
}

func TestUnknownKeysAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"device_serial":"A","humidity":1`)
	for i := range 5000 {
		fmt.Fprintf(&b, `,"%s%d":1`, strings.Repeat("k", 200), i)
	}
	b.WriteString("}")
	var out SentReading
	if e := DecodeReading([]byte(b.String()), &out); e != nil || len(out.Ignored) != MaxIgnored {
		t.Fatalf("%v, %d are named", e, len(out.Ignored))
	}
	for _, name := range out.Ignored {
		if len(name) > 70 {
			t.Errorf("field name of %d bytes", len(name))
		}
	}
}

// decodeByTheBook decodes an accepted body with the standard library alone.
func decodeByTheBook(body []byte) (map[string]any, error) {
	var m map[string]any
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.UseNumber()
	return m, d.Decode(&m)
}

func FuzzDecodeReading(f *testing.F) {
	f.Add([]byte(nominalBody))
	f.Add([]byte(`{"device_serial":"A","humidity":4.50,"recorded_at":"2026-11-20T12:00:00.25Z","door_open":true,"start_count":7}`))
	f.Add([]byte(`{"device_serial":"A","energy":12.125,"power":0,"run_seconds":3600,"suction_pressure":-100.0,"start_count":-0}`))
	f.Add([]byte(`{"device_serial":"A","humidity":1e1,"x":[{"a":null}]}`))
	f.Add([]byte(`{"device_serial":"\u0041","product_zone_temp":-127.00, "voltage" : 0.000001}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var fast, strict SentReading
		end, ok := fastReading(body, skipSpace(body, 0), &fast)
		ok = ok && skipSpace(body, end) == len(body)
		syntax := CheckJSON(body)
		if ok && syntax != nil {
			t.Fatalf("the fast decoder takes what is not JSON: %v", syntax)
		}
		var m map[string]any
		if syntax == nil {
			if !json.Valid(body) {
				t.Fatal("the scanner takes what encoding/json does not")
			}
			if body[skipSpace(body, 0)] != '{' {
				return
			}
			var e *rimewatch.Error
			if err := Scan(body, func(s *Scanner) (ok bool) { e, ok = strictReading(s, &strict); return ok }); err != nil {
				t.Fatal(err)
			}
			if ok {
				if e != nil {
					t.Fatalf("the fast decoder takes what the strict one does not: %v %v", e, e.Fields)
				}
				if diff := cmp.Diff(strict, fast); diff != "" {
					t.Fatalf("the decoders differ: %s", diff)
				}
			}
			if e != nil {
				if len(e.Fields) == 0 {
					t.Fatal("refused without a field")
				}
				return
			}
			var err error
			if m, err = decodeByTheBook(body); err != nil {
				t.Fatal(err)
			}
			for fd := range rimewatch.AllFields.All() {
				v, present := strict.Value(fd)
				sent, IsNumber := m[fd.String()].(json.Number)
				if !IsNumber {
					if present {
						t.Fatalf("%s was not sent", fd)
					}
					continue
				}
				want, _ := strconv.ParseFloat(string(sent), 64)
				if present && v != want {
					t.Fatalf("%s: %v, sent %v", fd, v, want)
				}
				if !present && !strict.Faults.Has(fd) {
					t.Fatalf("%s was lost", fd)
				}
			}
		}
	})
}

// FuzzScanner holds the strict scanner against encoding/json: whatever it
// takes, that takes too; whatever it refuses, that refuses or takes for reasons
// that the contract names.
func FuzzScanner(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e-3,null,true,"\u00e9\ud83d\ude00"]}`, `[]`, `"\ud800"`, `{"a":1,"a":2}`, "\"\xff\"", ` 1 `, `-0`, `01`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		err := CheckJSON(body)
		valid := json.Valid(body)
		if err == nil && !valid {
			t.Fatal("takes what is not JSON")
		}
		var syntax *syntaxError
		if err != nil && valid {
			if !errors.As(err, &syntax) || !slices.Contains([]string{"duplicate key", "invalid UTF-8", "lone surrogate", "nested too deeply", "too many members in one object"}, syntax.reason) {
				t.Fatalf("refuses JSON: %v", err)
			}
		}
		if err != nil {
			return
		}
		if err := Scan(body, func(s *Scanner) bool { return walk(t, s, body, 0) }); err != nil {
			t.Fatalf("walked member by member: %v", err)
		}
	})
}

// walk visits a valid document by members and elements and compares every text
// with that of encoding/json.
func walk(t *testing.T, s *Scanner, v json.RawMessage, depth int) bool {
	if depth > MaxDepth {
		t.Fatal("deeper than the scanner allows")
	}
	n := 0
	switch s.Next() {
	case '{':
		var want map[string]json.RawMessage
		if err := json.Unmarshal(v, &want); err != nil {
			t.Fatal(err)
		}
		ok := s.Object(func(key []byte) bool {
			n++
			inner, ok := want[string(key)]
			if !ok {
				t.Fatalf("key %q is not there", key)
			}
			return walk(t, s, inner, depth+1)
		})
		if n != len(want) {
			t.Fatalf("%d members of %d", n, len(want))
		}
		return ok
	case '[':
		var want []json.RawMessage
		if err := json.Unmarshal(v, &want); err != nil {
			t.Fatal(err)
		}
		ok := s.Array(func(i int) bool {
			n++
			return walk(t, s, want[i], depth+1)
		})
		if n != len(want) {
			t.Fatalf("%d elements of %d", n, len(want))
		}
		return ok
	case '"':
		raw, ok := s.Raw()
		var want string
		if err := json.Unmarshal(v, &want); err != nil || string(Text(raw)) != want {
			t.Fatalf("text %q, want %q (%v)", Text(raw), want, err)
		}
		return ok
	default:
		return s.Value()
	}
}

func TestNumbersComeBackAsSent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.Int64Range(-999_999_999_999_999, 999_999_999_999_999).Draw(t, "digits")
		frac := rapid.IntRange(0, 15).Draw(t, "decimals")
		text := strconv.FormatFloat(float64(digits)/math.Pow10(frac), 'f', frac, 64)
		want, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		if v, _, ok := fastNumber([]byte(text+","), 0); ok && v != want {
			t.Fatalf("%s read as %v", text, v)
		}
		written := AppendNumber(nil, want)
		if back, err := strconv.ParseFloat(string(written), 64); err != nil || back != want {
			t.Fatalf("%v written as %s", want, written)
		}
		if std, _ := json.Marshal(want); want != 0 && len(written) > len(std) {
			t.Fatalf("%s is longer than %s", written, std)
		}
	})
	for text, want := range map[string]string{
		"0": "0", "-18.5": "-18.5", "230.40": "230.4", "0.001": "0.001", "1e-7": "1e-7", "123456789012345": "123456789012345",
		"0.30000000000000004": "0.30000000000000004", "-0.5": "-0.5", "1e21": "1e+21", "99.999": "99.999", "3.14159265358979": "3.14159265358979",
	} {
		v, _ := strconv.ParseFloat(text, 64)
		if got := string(AppendNumber(nil, v)); got != want {
			t.Errorf("%s is written as %s, want %s", text, got, want)
		}
	}
}

func FuzzAppendNumber(f *testing.F) {
	f.Add(-18.5)
	f.Add(1e300)
	f.Fuzz(func(t *testing.T, v float64) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return
		}
		b := AppendNumber(nil, v)
		if !json.Valid(b) {
			t.Fatalf("%v is written as %s", v, b)
		}
		if back, err := strconv.ParseFloat(string(b), 64); err != nil || back != v {
			t.Fatalf("%v is written as %s", v, b)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	bodies := map[string]string{
		"nominal":  nominalBody,
		"timed":    strings.Replace(nominalBody, "{", `{"recorded_at":"2026-11-20T11:59:59.250Z",`, 1),
		"spaced":   strings.ReplaceAll(strings.ReplaceAll(nominalBody, ":", ": "), ",", ", "),
		"strict":   strings.Replace(nominalBody, "8.2", "8.2e0", 1),
		"sentinel": strings.Replace(nominalBody, "-18.5", "-127", 1),
	}
	for name, body := range bodies {
		b.Run(name, func(b *testing.B) {
			text := []byte(body)
			var out SentReading
			b.ReportAllocs()
			for b.Loop() {
				if e := DecodeReading(text, &out); e != nil {
					b.Fatal(e)
				}
			}
		})
	}
}
