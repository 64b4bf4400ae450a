package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
	_ "github.com/rimewatch/rimewatch/internal/trial"
)

func at(t *testing.T, text string) rimewatch.Time {
	t.Helper()
	v, err := rimewatch.ParseTime(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestSniffTime(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		texts []string
		zone  *time.Location
		form  string
		last  string
	}{
		{"RFC 3339", []string{"2026-11-20T19:47:12Z", "2026-11-20T20:47:12.5+01:00"}, time.UTC, time.RFC3339, "2026-11-20T19:47:12.500Z"},
		{"with a space and an offset", []string{"2026-11-20 19:47:12+02:00"}, time.UTC, "2006-01-02 15:04:05Z07:00", "2026-11-20T17:47:12.000Z"},
		{"SQL", []string{"2013-07-04 00:00:00", "2013-07-04 01:00:00"}, time.UTC, "2006-01-02 15:04:05", "2013-07-04T01:00:00.000Z"},
		{"SQL in a zone", []string{"2013-07-04 00:00:00"}, berlin, "2006-01-02 15:04:05", "2013-07-03T22:00:00.000Z"},
		{"fraction", []string{"2013-07-04 00:00:00.123456"}, time.UTC, "2006-01-02 15:04:05", "2013-07-04T00:00:00.123Z"},
		{"bearings", []string{"2004.02.12.10.32.39"}, time.UTC, "2006.01.02.15.04.05", "2004-02-12T10:32:39.000Z"},
		{"day first, by the day", []string{"3/4/26 10:00", "28/4/26 10:00"}, time.UTC, "2/1/06 15:04", "2026-04-28T10:00:00.000Z"},
		{"month first, by the day", []string{"3/4/26 10:00", "4/28/26 10:00"}, time.UTC, "1/2/06 15:04", "2026-04-28T10:00:00.000Z"},
		{"month first, by the order", []string{"9/3/2026 10:00", "9/4/2026 10:00", "10/1/2026 10:00"}, time.UTC, "1/2/2006 15:04", "2026-10-01T10:00:00.000Z"},
		{"day first where nobody can tell", []string{"3/4/26 10:00", "4/4/26 10:00"}, time.UTC, "2/1/06 15:04", "2026-04-04T10:00:00.000Z"},
		{"twelve hours", []string{"2/28/2026 1:05 PM"}, time.UTC, "1/2/2006 3:04 PM", "2026-02-28T13:05:00.000Z"},
		{"dots", []string{"28.2.2026 13:05:07"}, time.UTC, "2.1.2006 15:04:05", "2026-02-28T13:05:07.000Z"},
		{"Unix seconds", []string{"1000000000", "1000000000.25"}, time.UTC, "Unix seconds", "2001-09-09T01:46:40.250Z"},
		{"Unix milliseconds", []string{"1000000000250"}, time.UTC, "Unix milliseconds", "2001-09-09T01:46:40.250Z"},
		{"holes", []string{"", "2026-11-20", ""}, time.UTC, "2006-01-02", "2026-11-20T00:00:00.000Z"},
		{"none", []string{"yesterday"}, time.UTC, "", ""},
		{"nothing", []string{"", ""}, time.UTC, "", ""},
		{"small numbers", []string{"1", "2"}, time.UTC, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			form, parse := sniffTime(tt.texts, tt.zone)
			if form != tt.form || (parse == nil) != (tt.form == "") {
				t.Fatalf("%q", form)
			}
			if parse == nil {
				return
			}
			last := ""
			for _, text := range tt.texts {
				if text != "" {
					last = text
				}
			}
			if got, err := parse(last); err != nil || got.String() != tt.last {
				t.Errorf("%s, %v; want %s", got, err, tt.last)
			}
		})
	}
}

// Whatever the form, a column of growing times is read back as it was written.
func TestSniffTimeReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		layout := rapid.SampledFrom(timeLayouts).Draw(t, "layout")
		start := rapid.Int64Range(946684800, 4102444800).Draw(t, "start")
		step := rapid.Int64Range(40*86400, 80*86400).Draw(t, "step")
		var texts []string
		var want []rimewatch.Time
		for i := range int64(8) {
			at := time.Unix(start+i*step, 0).UTC()
			if at.Year() > 2060 {
				break // two digits of a year mean the last century then
			}
			text := at.Format(layout)
			again, err := time.ParseInLocation(layout, text, time.UTC)
			if err != nil {
				t.Fatal(err)
			}
			texts, want = append(texts, text), append(want, rimewatch.TimeOf(again))
		}
		if len(texts) < 8 {
			return
		}
		_, parse := sniffTime(texts, time.UTC)
		if parse == nil {
			t.Fatalf("%q is not understood", texts)
		}
		for i, text := range texts {
			if got, err := parse(text); err != nil || got != want[i] {
				t.Fatalf("%q of %q is read as %s, %v", text, texts, got, err)
			}
		}
	})
}

func TestReadRecording(t *testing.T) {
	type m = client.Measurements
	v := client.Value[float64]
	noon := at(t, "2026-02-28T12:00:00.000Z")
	for _, tt := range []struct {
		name, file string
		o          recordingOptions
		want       []row
		skipped    int
		complaint  string
	}{
		{
			name: "by name", file: "Timestamp,Humidity,other\n2026-02-28 12:00:00,50,1\n",
			want: []row{{noon, m{Humidity: v(50)}}},
		},
		{
			name: "mapped, not in order", file: "\xEF\xBB\xBFa\tt\n2\t2026-02-28 12:01\n1\t2026-02-28 12:00\n",
			o:    recordingOptions{Map: map[string]string{"voltage": "A"}},
			want: []row{{noon, m{Voltage: v(1)}}, {noon + rimewatch.Minute, m{Voltage: v(2)}}},
		},
		{
			name: "Fahrenheit", file: "time,product_zone_temp,humidity\n2026-02-28 12:00:00,32.5,32\n",
			o:    recordingOptions{Fahrenheit: true},
			want: []row{{noon, m{ProductZoneTemp: v(0.2778), Humidity: v(32)}}},
		},
		{
			name: "ways of writing nothing", file: "time,voltage,humidity\n2026-02-28 12:00:00,NaN, n/a \n2026-02-28 12:00:00,-,1\n",
			want: []row{{noon, m{Humidity: v(1)}}}, skipped: 1, complaint: "row 2: it contains no measurement",
		},
		{
			name: "decimal commas", file: "time;voltage;humidity\n2026-02-28 12:00:00;230,5;1.5\n",
			want: []row{{noon, m{Voltage: v(230.5), Humidity: v(1.5)}}},
		},
		{
			name: "extras", file: "time,compressor_on,door_open,start_count,run_seconds\n2026-02-28 12:00:00,on,No,3,99\n2026-02-28 12:00:00,maybe,,,\n",
			want:    []row{{noon, m{CompressorOn: client.Value(true), DoorOpen: client.Value(false), StartCount: client.Value(int64(3)), RunSeconds: client.Value(int64(99))}}},
			skipped: 1, complaint: `row 3: compressor_on: "maybe" is neither yes nor no`,
		},
		{
			name: "short rows and no time", file: "voltage,time\n1\n2,2026-02-28 12:00:00\n3,soon\n",
			want: []row{{noon, m{Voltage: v(2)}}}, skipped: 2, complaint: "row 2: it contains no time",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Zone = time.UTC
			if tt.name == "short rows and no time" {
				tt.file = "voltage,time\n1\n" + strings.Repeat("2,2026-02-28 12:00:00\n", sure) + "3,soon\n"
				tt.want = nil
				for range sure {
					tt.want = append(tt.want, row{noon, m{Voltage: v(2)}})
				}
			}
			rec, err := readRecording(strings.NewReader(tt.file), tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, rec.rows, cmp.AllowUnexported(row{})); d != "" {
				t.Error(d)
			}
			if rec.skipped != tt.skipped || (tt.skipped > 0 && rec.complaints[0] != tt.complaint) {
				t.Errorf("%d skipped: %q", rec.skipped, rec.complaints)
			}
		})
	}
}

func TestReadRecordingRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		file, want string
		o          recordingOptions
	}{
		"nothing":      {"", "the file is empty", recordingOptions{}},
		"header only":  {"time,voltage\n", "there is no row after the header", recordingOptions{}},
		"no times":     {"voltage,humidity\n1,2\n", "no column contains times", recordingOptions{}},
		"odd times":    {"time,humidity\nsoon,2\n", `the first value is "soon"`, recordingOptions{}},
		"no column":    {"time,humidity\n2026-02-28 12:00:00,2\n", `there is no column "x"`, recordingOptions{TimeColumn: "x"}},
		"no value":     {"time,humidity\n2026-02-28 12:00:00,\n", "no row contains a time and a measurement", recordingOptions{}},
		"open quote":   {"time,humidity\n\"2026-02-28 12:00:00,1\n", "", recordingOptions{}},
		"infinite":     {"time,humidity\n2026-02-28 12:00:00,1e999\n", "is not a number", recordingOptions{}},
		"out of range": {"time,humidity\n0001-02-28 12:00:00,1\n", "in a known format", recordingOptions{}},
	} {
		tt.o.Zone = time.UTC
		if _, err := readRecording(strings.NewReader(tt.file), tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	o := recordingOptions{Map: map[string]string{"colour": "x"}, Zone: time.UTC}
	var usage usageError
	if _, err := readRecording(strings.NewReader("time,x\n2026-02-28 12:00:00,1\n"), o); !errors.As(err, &usage) {
		t.Error(err)
	}
}
