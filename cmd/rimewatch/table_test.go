package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

// loggers are the files of loggers and apps in the shape in which each exports them: two
// readings, of −18.2 and −18.1 °C, the first at the hour that is told.
var loggers = []struct {
	name, file, first string
	humidity          float64 // of the first; 0 = none
}{
	{"Govee", "Timestamp for sample frequency every 1 min min,Temperature_Celsius,Relative_Humidity\n2026-11-22 10:00:00,-18.2,44.1\n2026-11-22 10:01:00,-18.1,44.0\n", "10:00", 44.1},
	{"Elitech", "\xEF\xBB\xBF\"No.\",\"Time\",\"Temperature°C\",\"Humidity%RH\"\r\n\"1\",\"2026-11-22 10:00:00\",\"-18.2\",\"44.1\"\r\n\"2\",\"2026-11-22 10:10:00\",\"-18.1\",\"44.0\"\r\n", "10:00", 44.1},
	{"Testo", "Datum / Zeit;Kanal 1 [°C];Kanal 2 [%rF]\n22.11.2026 10:00:00;-18,2;44,1\n22.11.2026 10:05:00;-18,1;44,0\n", "10:00", 0},
	{"HOBO", "\"Plot Title: Freezer\"\n\"#\",\"Date Time, GMT-05:00\",\"Temp, °F (LGR S/N: 20112233, SEN S/N: 20112233)\",\"RH, % (LGR S/N: 20112233)\"\n" +
		"1,11/22/26 10:00:00 AM,-0.76,44.1\n2,11/22/26 10:05:00 AM,-0.58,44.0\n", "15:00", 44.1},
	{"SensorPush", "Timestamp,Temperature (°F),Relative Humidity (%)\n2026-11-22 10:00,-0.76,44.1\n2026-11-22 10:01,-0.58,44.0\n", "10:00", 44.1},
	{"Home Assistant", "entity_id,state,last_changed\nsensor.freezer_temperature,-18.2,2026-11-22T10:00:00.000Z\nsensor.freezer_temperature,unavailable,2026-11-22T10:05:00.000Z\n" +
		"sensor.freezer_temperature,-18.1,2026-11-22T10:06:00.000Z\n", "10:00", 0},
	{"LogTag", "Serial number,A0312345678\nStart,22/11/2026 09:00\nDate,Time,Temperature\n22/11/2026,10:00:00,-18.2\n22/11/2026,10:05:00,-18.1\n", "10:00", 0},
	{"Inkbird", "Date,Time,Temperature(℃),Humidity(%)\n2026/11/22,10:00,-18.2,44.1\n2026/11/22,10:05,-18.1,44\n", "10:00", 44.1},
	{"Excel", "Date,Temp (F),Battery\n11/22/2026 1:05 PM,-0.76,100\n11/22/2026 1:35 PM,-0.58,100\n", "13:05", 0},
}

// value returns what a cell holds, 0 when it is empty.
func value(p *float64) float64 {
	if p == nil {
		return 0
	}
	return *p
}

// TestLoggers: what loggers export is read without being told what stands where.
func TestLoggers(t *testing.T) {
	for _, l := range loggers {
		rec, err := readRecording(strings.NewReader(l.file), recordingOptions{Zone: time.UTC})
		if err != nil {
			t.Errorf("%s: %v", l.name, err)
			continue
		}
		temps := []float64{}
		for i := range rec.rows {
			temps = append(temps, value(rec.rows[i].values.ProductZoneTemp))
		}
		h := value(rec.rows[0].values.Humidity)
		if len(temps) != 2 || temps[0] != -18.2 || temps[1] != -18.1 || h != l.humidity || rec.rows[0].at != at(t, "2026-11-22T"+l.first+":00.000Z") {
			t.Errorf("%s: %v, humidity %v, first at %s", l.name, temps, h, rec.rows[0].at)
		}
	}
}

// TestSeveralTemperatures: which of two probes is the product's is asked, not guessed.
func TestSeveralTemperatures(t *testing.T) {
	for _, file := range []string{
		"Timestamp;\"T1 (°C)\";\"T2 (°C)\"\n2026-11-22T10:00:00+01:00;-18,2;3,1\n",
		"time,Freezer Temperature,Cooler Temperature\n2026-11-22T10:00:00Z,-18.2,3.1\n",
	} {
		if _, err := readRecording(strings.NewReader(file), recordingOptions{Zone: time.UTC}); !errors.Is(err, errSeveral) {
			t.Errorf("%q: %v", file, err)
		}
	}
	file := "Timestamp;\"T1 (°F)\";\"T2 (°C)\"\n2026-11-22T10:00:00+01:00;-0,4;3,1\n"
	rec, err := readRecording(strings.NewReader(file), recordingOptions{Zone: time.UTC, Map: map[string]string{rimewatch.ProductZoneTemp.String(): "T1 (°F)"}})
	if err != nil {
		t.Fatal(err)
	}
	if v := value(rec.rows[0].values.ProductZoneTemp); v != -18 {
		t.Errorf("%v °C", v)
	}
}
