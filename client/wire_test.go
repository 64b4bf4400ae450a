package client

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch/internal/wire"
)

// members lists the JSON members of a struct, those of embedded ones included.
func members(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			names = append(names, members(f.Type)...)
		case name != "" && name != "-":
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// TestShapesAreThoseOfTheWire: what the server writes and what the client reads
// have the same members. The shapes are declared twice since a client must not
// bring the server's packages along.
func TestShapesAreThoseOfTheWire(t *testing.T) {
	for _, pair := range [][2]any{
		{Alert{}, wire.AlertDetail{}},
		{Escalation{}, wire.Escalation{}},
		{Told{}, wire.Told{}},
		{SiteRef{}, wire.SiteRef{}},
		{DeviceItem{}, wire.DeviceItem{}},
		{Device{}, wire.DeviceDetail{}},
		{DeviceHealth{}, wire.DeviceHealth{}},
		{HealthDriver{}, wire.Driver{}},
		{CalibrationState{}, wire.CalibrationState{}},
		{DeviceOffset{}, wire.DeviceOffset{}},
		{MaintenanceState{}, wire.MaintenanceState{}},
		{Summary{}, wire.HealthSummary{}},
		{Coverage{}, wire.Coverage{}},
		{Paperwork{}, wire.Paperwork{}},
		{CoverageGap{}, wire.CoverageGap{}},
		{RotaGaps{}, wire.RotaGaps{}},
		{DutyGap{}, wire.DutyGap{}},
		{Hold{}, wire.Hold{}},
		{Pagination{}, wire.Pagination{}},
		{PredictionQuality{}, wire.PredictionQuality{}},
		{QualityCounts{}, wire.QualityCounts{}},
		{Happening{}, wire.Event{}},
	} {
		read, written := members(reflect.TypeOf(pair[0])), members(reflect.TypeOf(pair[1]))
		if len(written) < 2 {
			t.Fatalf("%T has the members %v: the test looks in the wrong place", pair[1], written)
		}
		for _, name := range written {
			if !slices.Contains(read, name) {
				t.Errorf("%T lacks %s, which %T has", pair[0], name, pair[1])
			}
		}
		for _, name := range read {
			if !slices.Contains(written, name) {
				t.Errorf("%T has %s, which %T lacks", pair[0], name, pair[1])
			}
		}
	}
}
