package alert

import (
	"encoding/base64"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// courseOf12 is what version 12 wrote after the first three readings of TestVersion12.
const courseOf12 = "DEuAuKyK42jA/BUBAwb/98kE//fJBFC0XwEbr70Q//fJBP/3yQTAEA=="

// TestVersion12: an alert that is active, and what lasts, are read from a
// state that knew of nothing that adds up.
func TestVersion12(t *testing.T) {
	u := newDevice(t, configOf("walkin_freezer"))
	u.run(`
		0m -14
		70m -14
		80m -13.5`)
	b, err := base64.StdEncoding.DecodeString(courseOf12)
	if err != nil || b[0] != withExposure-1 {
		t.Fatal(err, b[0])
	}
	u.s.State = State{}
	if rest, err := u.s.State.DecodeBinary(b); err != nil || len(rest) > 0 {
		t.Fatal(err, rest)
	}
	u.run(`
		90m -20
		94m -20
		96m tick`)
	want := []string{
		"1h opened high_temperature warning since 0s value -14 peak -14 limit -15",
		"1h35m resolved high_temperature warning since 0s value -20 peak -13.5 limit -15",
	}
	if diff := cmp.Diff(want, summary(u.log)); diff != "" {
		t.Error(diff)
	}
}
