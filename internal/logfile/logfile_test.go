package logfile

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
	_ "github.com/rimewatch/rimewatch/internal/trial"
)

// said is what a file holds, in a line a row: the time, the measurements, the states.
func said(f *File) string {
	var b strings.Builder
	for i := range f.Rows {
		r := f.Reading(&f.Rows[i])
		b.WriteString(strings.TrimSuffix(strings.Replace(r.At.String(), "T", " ", 1), ":00.000Z"))
		for field, v := range r.All() {
			fmt.Fprintf(&b, " %s=%v", field, v)
		}
		for x := range rimewatch.NumFlags {
			if v, ok := r.Flags.Bool(x); ok {
				fmt.Fprintf(&b, " %s=%v", x, v)
			}
		}
		for _, name := range r.Faults.Names() {
			fmt.Fprintf(&b, " %s=fault", name)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// whole checks that every row is a reading or named.
func whole(t interface{ Errorf(string, ...any) }, f *File) {
	named := 0
	for _, r := range f.LeftOut {
		named += r.N
	}
	if len(f.Rows)+named != f.Sent {
		t.Errorf("%d rows, of which %d are readings and %d are named", f.Sent, len(f.Rows), named)
	}
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func utf16Bytes(text string, little, mark bool) []byte {
	var b []byte
	if mark {
		text = "\ufeff" + text
	}
	for _, u := range utf16.Encode([]rune(text)) {
		if little {
			b = append(b, byte(u), byte(u>>8))
		} else {
			b = append(b, byte(u>>8), byte(u))
		}
	}
	return b
}

// TestLoggers: what loggers and apps export is read without being told what stands where.
func TestLoggers(t *testing.T) {
	const two = "2026-11-22 %s product_zone_temp=-18.2%s\n2026-11-22 %s product_zone_temp=-18.1%s\n"
	for _, l := range []struct{ name, file, first, second, more, more2 string }{
		{"Govee", "Timestamp for sample frequency every 1 min min,Temperature_Celsius,Relative_Humidity\n2026-11-22 10:00:00,-18.2,44.1\n2026-11-22 10:01:00,-18.1,44.0\n", "10:00", "10:01", " humidity=44.1", " humidity=44"},
		{"Elitech", "\xEF\xBB\xBF\"No.\",\"Time\",\"Temperature°C\",\"Humidity%RH\"\r\n\"1\",\"2026-11-22 10:00:00\",\"-18.2\",\"44.1\"\r\n\"2\",\"2026-11-22 10:10:00\",\"-18.1\",\"44.0\"\r\n", "10:00", "10:10", " humidity=44.1", " humidity=44"},
		{"Testo", "Datum / Zeit;Kanal 1 [°C];Kanal 2 [%rF]\n22.11.2026 10:00:00;-18,2;44,1\n22.11.2026 10:05:00;-18,1;44,0\n", "10:00", "10:05", "", ""},
		{"HOBO", "\"Plot Title: Freezer\"\n\"#\",\"Date Time, GMT-05:00\",\"Temp, °F (LGR S/N: 20112233, SEN S/N: 20112233)\",\"RH, % (LGR S/N: 20112233)\"\n" +
			"1,11/22/26 10:00:00 AM,-0.76,44.1\n2,11/22/26 10:05:00 AM,-0.58,44.0\n", "15:00", "15:05", " humidity=44.1", " humidity=44"},
		{"SensorPush", "Timestamp,Temperature (°F),Relative Humidity (%)\n2026-11-22 10:00,-0.76,44.1\n2026-11-22 10:01,-0.58,44.0\n", "10:00", "10:01", " humidity=44.1", " humidity=44"},
		{"Home Assistant", "entity_id,state,last_changed\nsensor.freezer_temperature,-18.2,2026-11-22T10:00:00.000Z\nsensor.freezer_temperature,unavailable,2026-11-22T10:05:00.000Z\n" +
			"sensor.freezer_temperature,-18.1,2026-11-22T10:06:00.000Z\n", "10:00", "10:06", "", ""},
		{"LogTag", "Serial number,A0312345678\nStart,22/11/2026 09:00\nDate,Time,Temperature\n22/11/2026,10:00:00,-18.2\n22/11/2026,10:05:00,-18.1\n", "10:00", "10:05", "", ""},
		{"Inkbird", "Date,Time,Temperature(℃),Humidity(%)\n2026/11/22,10:00,-18.2,44.1\n2026/11/22,10:05,-18.1,44\n", "10:00", "10:05", " humidity=44.1", " humidity=44"},
		{"Excel", "Date,Temp (F),Battery\n11/22/2026 1:05 PM,-0.76,100\n11/22/2026 1:35 PM,-0.58,100\n", "13:05", "13:35", "", ""},
		{"decimal commas between commas", "Zeit,\"Temperatur, °C\"\n\"22.11.2026 10:00\",\"-18,2\"\n\"22.11.2026 10:05\",\"−18,1\"\n", "10:00", "10:05", "", ""},
		{"units in a line of their own", "Fecha;Hora;Temperatura;Humedad\n;;°F;%\n22-11-2026;10:00;-0,76;44,1\n22-11-2026;10:05;-0,58;44\n", "10:00", "10:05", " humidity=44.1", " humidity=44"},
		{"units in the cells", "When|Temp\nNov 22, 2026 10:00:00 AM|-0.76 °F\nNov 22, 2026 10:05:00 AM|-18.1 °C\n", "10:00", "10:05", "", ""},
		{"half days of Spain", "Fecha y hora;Temperatura\n22/11/2026 1:05 p. m.;-18,2\n22/11/2026 1:10\u202fp.\u00a0m.;-18,1\n", "13:05", "13:10", "", ""},
		{"both units", "Time,Temperature(°F),Temperature(°C)\n2026-11-22 10:00,-0.7,-18.2\n2026-11-22 10:05,-0.6,-18.1\n", "10:00", "10:05", "", ""},
		{"the newest first", "Time,Temperature\n11/4/2026 10:00,-18\n11/3/2026 10:00,-18\n10/31/2026 10:00,-18\n", "", "", "", ""},
	} {
		f, err := Read([]byte(l.file), Options{})
		if err != nil {
			t.Errorf("%s: %v", l.name, err)
			continue
		}
		whole(t, f)
		want := fmt.Sprintf(two, l.first, l.more, l.second, l.more2)
		if l.first == "" {
			want = "2026-10-31 10:00 product_zone_temp=-18\n2026-11-03 10:00 product_zone_temp=-18\n2026-11-04 10:00 product_zone_temp=-18\n"
		}
		if got := said(f); got != want {
			t.Errorf("%s:\n%swant\n%s", l.name, got, want)
		}
	}
}

// TestEncodings: a table is the same in whatever encoding it is saved.
func TestEncodings(t *testing.T) {
	const western = "Zeit;Kühlgerät Temperatur °C;Ort\n22.11.2026 10:00;-18,2;Zürich – “Nord”\n"
	const japanese1 = "日時,温度(℃),湿度(%),メモ\n2026年11月22日 10時00分,-18.2,44.1,冷凍庫ﾊﾞｯｸ\n"
	encoded := func(b []byte, err error) []byte {
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, tt := range []struct {
		name, encoding, more string
		file                 []byte
	}{
		{"UTF-8", utf8Name, "", []byte(western)},
		{"UTF-8 with a mark", utf8Name, "", []byte("\ufeff" + western)},
		{"Windows-1252", windows1252Name, "", encoded(charmap.Windows1252.NewEncoder().Bytes([]byte(western)))},
		{"UTF-16, little", utf16Name, "", utf16Bytes(western, true, true)},
		{"UTF-16, big", utf16Name, "", utf16Bytes(western, false, true)},
		{"UTF-16 without a mark", utf16Name, "", utf16Bytes(western, true, false)},
		{"UTF-8 of Japan", utf8Name, " humidity=44.1", []byte(japanese1)},
		{"Shift-JIS", shiftJISName, " humidity=44.1", encoded(japanese.ShiftJIS.NewEncoder().Bytes([]byte(japanese1)))},
	} {
		f, err := Read(tt.file, Options{})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := said(f); got != "2026-11-22 10:00 product_zone_temp=-18.2"+tt.more+"\n" || f.Encoding != tt.encoding {
			t.Errorf("%s: %s %s", tt.name, f.Encoding, got)
		}
	}
	french := encoded(charmap.Windows1252.NewEncoder().Bytes([]byte("Relevé de l’été\nDate;Température (°C)\n22/11/2026 10:00;4,5\n")))
	if f, err := Read(french, Options{}); err != nil || f.Encoding != windows1252Name || f.Columns[0].Heading != "Température (°C)" {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestReports: a table stands in the middle of a report, which states the logger, the unit and
// the zone; what is no row of it is named.
func TestReports(t *testing.T) {
	days := strings.Repeat("  Date: 2026-11-20\n  Min T: +4.0, TS Min T: 08:05\n  Max T: +9.2, TS Max T: 09:20\n", 200)
	f, err := Read([]byte("Device: Some tag\nConf:\n Serial: 160400000077\n Temp unit: F\nHist:\n"+days+
		"Data:\n\tyyyy-MM-dd hh:mm\tT\tOut of limits\n\t2026-11-20 08:00\t--.-\tx\n\t2026-11-20 08:05\t39.2\t\n\t2026-11-20 08:10\t41\t\nCert:\n Vers: 1\nSig: 00\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	whole(t, f)
	if got := said(f); got != "2026-11-20 08:05 product_zone_temp=4\n2026-11-20 08:10 product_zone_temp=5\n" || f.Serial != "160400000077" || f.Columns[0].Unit != "°F" || !f.Columns[0].Stated {
		t.Errorf("%s %+v", got, f)
	}
	if f.Sent != 6 || len(f.LeftOut) != 2 || f.LeftOut[0].N != 1 || f.LeftOut[1].N != 3 {
		t.Errorf("%d rows, %v", f.Sent, f.LeftOut)
	}

	f, err = Read([]byte("Cargo Logger\nSerial Number,XX0000000009\nTemperature Unit,F\nTime Zone,GMT-06:00\n\nData Point,Date,Time,Temperature\n"+
		"1,11/20/2026,08:00:00 AM,-2.2\n2,11/20/2026,01:15:00 PM,-4.0\n"), Options{Zone: zone(t, "Europe/Berlin"), Unit: "C"})
	if err != nil {
		t.Fatal(err)
	}
	whole(t, f)
	if got := said(f); got != "2026-11-20 14:00 product_zone_temp=-19\n2026-11-20 19:15 product_zone_temp=-20\n" || f.Serial != "XX0000000009" || f.ZoneSaid != "GMT-06:00" {
		t.Errorf("%s %+v", got, f)
	}
	for text, want := range map[string]string{"UTC+1": "+01:00", "+05:30": "+05:30", "(UTC-05:00) Eastern": "-05:00", "Europe/Berlin": "+01:00", "UTC": "Z", "−3": "-03:00", "there": "", "+99:00": "", "../etc/passwd": ""} {
		got := ""
		if z := zoneOf(text); z != nil {
			got = time.Date(2026, 1, 1, 0, 0, 0, 0, z).Format("Z07:00")
		}
		if got != want {
			t.Errorf("%s is %q", text, got)
		}
	}
}

// TestClocksGoBack: of the hour that comes twice the rows that come second are of the second
// pass; the hour that never comes has none.
func TestClocksGoBack(t *testing.T) {
	rows := func(times string, backwards bool) []byte {
		list := strings.Fields(times)
		if backwards {
			for i, k := 0, len(list)-1; i < k; i, k = i+1, k-1 {
				list[i], list[k] = list[k], list[i]
			}
		}
		var b strings.Builder
		b.WriteString("time,temperature\n")
		for _, at := range list {
			fmt.Fprintf(&b, "2026-%s,4\n", strings.Replace(at, "T", " ", 1))
		}
		return []byte(b.String())
	}
	for _, tt := range []struct{ name, zone, times, want string }{
		{"quarters", "America/New_York", "11-01T00:45 11-01T01:00 11-01T01:30 11-01T01:00 11-01T01:30 11-01T02:00", "04:45 05:00 05:30 06:00 06:30 07:00"},
		{"hours", "America/New_York", "11-01T00:00 11-01T01:00 11-01T01:00 11-01T02:00", "04:00 05:00 06:00 07:00"},
		{"one pass alone", "America/New_York", "11-01T01:00 11-01T01:30", "05:00 05:30"},
		{"a row twice", "Europe/Berlin", "10-25T02:00 10-25T02:10 10-25T02:10 10-25T02:20 10-25T02:00", "00:00 00:10 00:10 00:20 01:00"},
		{"half an hour", "Australia/Lord_Howe", "04-05T01:15 04-05T01:45 04-05T01:30 04-05T01:45 04-05T02:15", "14:15 14:45 15:00 15:15 15:45"},
		{"no change", "UTC", "11-01T01:00 11-01T01:30 11-01T02:00", "01:00 01:30 02:00"},
	} {
		for _, backwards := range []bool{false, true} {
			f, err := Read(rows(tt.times, backwards), Options{Zone: zone(t, tt.zone)})
			if err != nil {
				t.Fatal(err)
			}
			whole(t, f)
			var got []string
			for _, r := range f.Rows {
				got = append(got, r.At.Std().Format("15:04"))
			}
			if g := strings.Join(got, " "); g != tt.want {
				t.Errorf("%s, backwards %v: %s", tt.name, backwards, g)
			}
		}
	}
	f, err := Read(rows("03-08T01:30 03-08T02:00 03-08T02:30 03-08T03:00", false), Options{Zone: zone(t, "America/New_York")})
	if err != nil {
		t.Fatal(err)
	}
	whole(t, f)
	if len(f.Rows) != 2 || len(f.LeftOut) != 1 || f.LeftOut[0].N != 2 || !strings.Contains(f.LeftOut[0].Text.String(), "skip") {
		t.Errorf("%d rows, %v", len(f.Rows), f.LeftOut)
	}
}

// TestSeveralSensors: which of several sensors is the unit's is asked, not guessed.
func TestSeveralSensors(t *testing.T) {
	file := []byte("entity_id,state,last_changed\n" + strings.Repeat("sensor.cooler_temperature,3.5,2026-11-20T08:00:00Z\n", 300) +
		"sensor.freezer_temperature,-19.5,2026-11-20T08:00:30Z\nsensor.freezer_temperature,-19.4,2026-11-20T08:07:30Z\n")
	var several *ChoiceError
	if _, err := Read(file, Options{}); !errors.As(err, &several) || !several.Entity || len(several.Choices) != 2 ||
		several.Choices[1].Value != "sensor.freezer_temperature" || several.Choices[1].Rows != 2 || several.Choices[1].Low != -19.5 || several.Choices[1].High != -19.4 {
		t.Fatalf("%+v", several)
	}
	f, err := Read(file, Options{Entity: "sensor.freezer_temperature"})
	if err != nil {
		t.Fatal(err)
	}
	whole(t, f)
	if len(f.Rows) != 2 || f.Entity != "sensor.freezer_temperature" || f.Sent != 302 {
		t.Errorf("%+v", f)
	}
	if _, err := Read(file, Options{Entity: "sensor.other"}); err == nil {
		t.Error("an unknown sensor is read")
	}

	for _, columns := range []string{
		"Timestamp;\"T1 (°C)\";\"T2 (°C)\"\n2026-11-22T10:00:00+01:00;-18,2;3,1\n",
		"time,Freezer Temperature,Cooler Temperature\n2026-11-22T10:00:00Z,-18.2,3.1\n",
		"time,T1,T2\n2026-11-22T10:00:00Z,-18.2,3.1\n",
		"time,Temperature,Temperature\n2026-11-22T10:00:00Z,-18.2,3.1\n",
	} {
		if _, err := Read([]byte(columns), Options{}); !errors.As(err, &several) || several.Entity || len(several.Choices) != 2 || several.Choices[1].Low != 3.1 {
			t.Errorf("%q: %v", columns, err)
			continue
		}
		f, err := Read([]byte(columns), Options{Product: several.Choices[1].Value})
		if err != nil || f.Columns[0].Low != 3.1 {
			t.Errorf("%q: %v", columns, err)
		}
	}
	mapped, err := Read([]byte("Timestamp;\"T1 (°F)\";\"T2 (°C)\"\n2026-11-22T10:00:00+01:00;-0,4;3,1\n"), Options{Map: map[string]string{"product_zone_temp": "T1 (°F)", "ambient_temp": "t2 (°c)"}})
	if err != nil || said(mapped) != "2026-11-22 09:00 product_zone_temp=-18 ambient_temp=3.1\n" {
		t.Errorf("%v", err)
	}
}

// TestCells: what a cell holds, and that it costs no more than itself.
func TestCells(t *testing.T) {
	for _, tt := range []struct {
		name, file, want, left, cells string
		o                             Options
	}{
		{name: "by name", file: "Timestamp,Humidity,other\n2026-02-28 12:00:00,50,1\n", want: "12:00 humidity=50"},
		{name: "mapped, not in order", file: "\xEF\xBB\xBFa\tt\n2\t2026-02-28 12:01\n1\t2026-02-28 12:00\n", o: Options{Map: map[string]string{"voltage": "A"}}, want: "12:00 voltage=1|12:01 voltage=2"},
		{name: "Fahrenheit", file: "time,product_zone_temp,humidity\n2026-02-28 12:00:00,32.5,32\n", o: Options{Unit: "F"}, want: "12:00 product_zone_temp=0.2778 humidity=32"},
		{name: "Kelvin", file: "time,product_zone_temp\n2026-02-28 12:00:00,255.15\n", o: Options{Unit: "K"}, want: "12:00 product_zone_temp=-18"},
		{name: "nothing, in eight ways", file: "time,voltage,humidity\n2026-02-28 12:00:00,NaN, n/a \n2026-02-28 12:01:00,-,1\n", want: "12:01 humidity=1", left: "1 has no measurement [2]"},
		{name: "one nan among others", file: "time,temperature,voltage,humidity\n2026-02-28 12:00:00,nan,230,50\n2026-02-28 12:01:00,4,Err,50\n2026-02-28 12:02:00,4,230,150\n", want: "12:00 humidity=50 voltage=230|12:01 product_zone_temp=4 humidity=50|12:02 product_zone_temp=4 voltage=230",
			cells: "1 voltage is \"Err\", not a number [3]; 1 humidity is 150, not between 0 and 100 %RH [4]"},
		{name: "states", file: "time,compressor_on,door_open,start_count\n2026-02-28 12:00:00,on,No,3\n2026-02-28 12:00:00,maybe,,\n", want: "12:00 start_count=3 compressor_on=true door_open=false", left: "1 compressor_on is neither true nor false [3]"},
		{name: "a broken sensor", file: "time,temperature\n2026-02-28 12:00:00,-127\n2026-02-28 12:01:00,999\n2026-02-28 12:02:00,4\n", want: "12:00 product_zone_temp=fault|12:01 product_zone_temp=fault|12:02 product_zone_temp=4",
			cells: "2 temperature is what a broken or disconnected sensor reports [2 3]"},
		{name: "short rows, no time, another time", file: "voltage,time\n1\n2,2026-02-28 12:00:00\n,,\n3,soon\n", want: "12:00 voltage=2", left: "1 has no time [2]; 1 has a time in another form than the others, which are yyyy-mm-dd HH:MM:SS [5]"},
		{name: "decimal commas that part cells", file: "time,temperature\n2026-02-28 12:00:00,-18,2\n2026-02-28 12:01:00,-18\n", want: "12:01 product_zone_temp=-18", left: "1 has more cells than the heading: a decimal comma needs another separator between the cells [2]"},
		{name: "open quote", file: "time,temperature\n\"2026-02-28 12:00:00,1\n2026-02-28 12:01:00,2\n", want: "12:01 product_zone_temp=2", left: "1 has no measurement [2]"},
		{name: "the unit decides", file: "Unit: °C\n\nNo;When;Reading\n1;2026-02-28 12:00:00;7,5\n2;2026-02-28 12:01:00;8\n", want: "12:00 product_zone_temp=7.5|12:01 product_zone_temp=8"},
	} {
		f, err := Read([]byte(tt.file), tt.o)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		whole(t, f)
		got := strings.ReplaceAll(strings.TrimSpace(said(f)), "\n", "|")
		if got = strings.ReplaceAll(got, "2026-02-28 ", ""); got != tt.want {
			t.Errorf("%s: %s", tt.name, got)
		}
		tell := func(all []Reason) string {
			var out []string
			for _, r := range all {
				out = append(out, fmt.Sprintf("%d %s %v", r.N, r.Text, r.At))
			}
			return strings.Join(out, "; ")
		}
		if tell(f.LeftOut) != tt.left || tell(f.Cells) != tt.cells {
			t.Errorf("%s: left out %q, cells %q", tt.name, tell(f.LeftOut), tell(f.Cells))
		}
	}
}

// TestRefuses: a file that is no table of times and measurements is refused with what is wrong.
func TestRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		file, want string
		o          Options
	}{
		"nothing":       {"", "is empty", Options{}},
		"blanks":        {"\ufeff \n\n", "is empty", Options{}},
		"heading alone": {"time,voltage\n", "there is no row below its first line", Options{}},
		"no times":      {"voltage,humidity\n1,2\n", "has no column with times", Options{}},
		"odd times":     {"time,humidity\nsoon,2\n", `the first is "soon"`, Options{}},
		"no column":     {"time,humidity\n2026-02-28 12:00:00,2\n", `has no column "x"; there are "time", "humidity"`, Options{TimeColumn: "x"}},
		"no measure":    {"time,humidity\n2026-02-28 12:00:00,2\n", `maps "colour", which is not a measurement`, Options{Map: map[string]string{"colour": "humidity"}}},
		"no value":      {"time,humidity\n2026-02-28 12:00:00,\n", "has no row with a time and a measurement: has no measurement", Options{}},
		"another unit":  {"time,pressure (hPa)\n2026-02-28 12:00:00,1013\n", `has no column with the name of a measurement, such as Temperature (°C); there are "time", "pressure (hPa)"`, Options{}},
		"infinite":      {"time,humidity\n2026-02-28 12:00:00,1e999\n", "not a number", Options{}},
		"out of range":  {"time,humidity\n0001-02-28 12:00:00,1\n", "has no times in a known form", Options{}},
		"prose":         {"Dear all,\nthe freezer was warm on Monday.\n", "has no column with times", Options{}},
		"an image":      {"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00", "is not a text", Options{}},
		"random bytes":  {strings.Repeat("\x00\x8f\x03\xfe\x01", 1000), "is not a text", Options{}},
		"a workbook":    {"PK\x03\x04\x14\x00", "save the table as CSV", Options{}},
		"a PDF":         {"%PDF-1.7\n", "is a PDF", Options{}},
	} {
		if _, err := Read([]byte(tt.file), tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEveryRowIsAccountedFor: whatever rows a file has, each is a reading or is named, and what
// is read is what was written.
func TestEveryRowIsAccountedFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		comma := rapid.SampledFrom([]string{",", ";", "\t", "|"}).Draw(t, "comma")
		var b strings.Builder
		if rapid.Bool().Draw(t, "report") {
			b.WriteString("A report\nSerial: 12345\nTemperature unit: C\n\n")
		}
		b.WriteString(strings.Join([]string{"No", "Time", "Temperature", "Humidity"}, comma) + "\n")
		odd := rapid.SampledFrom([]string{"", "nan", "Err", "--.-", "\"", "999", "12:00", "\"a;b,c\"", "1e400", "٣", "-"})
		rows, good := rapid.IntRange(1, 60).Draw(t, "rows"), 0
		for i := range rows {
			at := time.Date(2026, 3, 1, 0, 7*i, 0, 0, time.UTC).Format("2006-01-02 15:04")
			cells := []string{fmt.Sprint(i + 1), at, "4.5", "50"}
			if i > 0 && rapid.IntRange(0, 4).Draw(t, "spoilt") == 0 {
				cells[rapid.IntRange(0, 3).Draw(t, "which")] = odd.Draw(t, "by")
			} else if good++; rapid.IntRange(0, 9).Draw(t, "extra") == 0 {
				cells = append(cells, "")
			}
			b.WriteString(strings.Join(cells, comma) + rapid.SampledFrom([]string{"\n", "\r\n", "\n\n"}).Draw(t, "end"))
		}
		f, err := Read([]byte(b.String()), Options{})
		if err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
		whole(t, f)
		if f.Sent < rows || len(f.Rows) < good {
			t.Fatalf("%d of %d good rows, %d of %d\n%s", len(f.Rows), good, f.Sent, rows, b.String())
		}
	})
}

// TestAnything: no bytes make it fail but with an error, or lose a row.
func TestAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"time", "temperature", "°C", ",", ";", "\t", "\n", "\"", "2026-11-20 08:00", "08:00", "11/20/2026", "-18.5", "4,5", "Serial: 1", "Unit: F", "entity_id", "a", "b", "GMT-06:00", "\xb0", "\x00", "T"}), 0, 60).Draw(t, "parts")
		if f, err := Read([]byte(strings.Join(parts, "")), Options{}); err == nil {
			whole(t, f)
		}
	})
}

// TestHostile: a line of very many cells is cut off, and rows that are wrong in a way of their
// own each are counted together from some on: neither takes time for each pair of them.
func TestHostile(t *testing.T) {
	wide := "time,temperature" + strings.Repeat(",x", 100_000) + "\n2026-03-01 00:00,4" + strings.Repeat(",5", 100_000) + "\n"
	f, err := Read([]byte(wide), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if whole(t, f); len(f.Rows) != 1 || len(f.Unused) != mostCells-2 {
		t.Errorf("%d rows, %d columns are not used", len(f.Rows), len(f.Unused))
	}
	var b strings.Builder
	b.WriteString("time,temperature\n2026-03-01 00:00,4\n")
	for i := range 5000 {
		fmt.Fprintf(&b, "2026-03-01 00:00,odd%d\n", i)
	}
	if f, err = Read([]byte(b.String()), Options{}); err != nil {
		t.Fatal(err)
	}
	if whole(t, f); len(f.LeftOut) != mostReasons {
		t.Errorf("%d reasons", len(f.LeftOut))
	}
}

// TestGaps: a step much longer than the others is a gap.
func TestGaps(t *testing.T) {
	f, err := Read([]byte("time,temperature\n2026-03-01 00:00,4\n2026-03-01 00:05,4\n2026-03-01 00:10,4\n2026-03-01 01:00,4\n2026-03-01 01:05,4\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	gaps := f.Gaps()
	if len(gaps) != 1 || gaps[0].To-gaps[0].From != 50*rimewatch.Minute {
		t.Error(gaps)
	}
}
