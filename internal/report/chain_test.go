package report_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/phrase"
	"github.com/rimewatch/rimewatch/internal/report"
)

// chain is a month of so many sites of twelve devices. Each third site has an excursion; two
// devices stand at none.
func chain(sites int) *report.Report {
	r := sample()
	one := logged(rimewatch.Device{EquipmentType: "walkin_freezer"}, r.Zone, r.From, r.To, r.GeneratedAt, rimewatch.Hour, -20)
	r.Site, r.Devices = nil, nil
	for s := range sites {
		for i := range 12 {
			d := one
			d.ID, d.SiteID, d.Serial, d.Name = int64(len(r.Devices)+1), int64(s+1), fmt.Sprintf("F-%d-%d", s+1, i+1), fmt.Sprintf("Freezer %d", i+1)
			d.SiteName, d.SiteAddress = fmt.Sprintf("Store %02d", s+1), fmt.Sprintf("%d High Street", s+1)
			if s%3 == 0 && i == 4 {
				d.Attach([]rimewatch.Excursion{{ID: int64(s + 1), From: r.From + 11*rimewatch.Day, To: r.From + 11*rimewatch.Day + 3*rimewatch.Hour, Limit: -15, Peak: -10}}, nil, nil, nil)
			}
			r.Devices = append(r.Devices, d)
		}
	}
	for i := range 2 {
		d := one
		d.Serial, d.Name = fmt.Sprintf("X-%d", i), "Trailer"
		r.Devices = append(r.Devices, d)
	}
	img := image.NewNRGBA(image.Rect(0, 0, 300, 120))
	for i := range 300 * 120 {
		img.Set(i%300, i/300, color.NRGBA{200, 40, 60, uint8(i % 256)})
	}
	var b bytes.Buffer
	_ = png.Encode(&b, img)
	r.Logo = rimewatch.Logo{Type: "image/png", Width: 300, Height: 120, Data: b.Bytes()}
	return r
}

// TestPDFOfAChain: a page about all sites, one about each, and the days of those devices alone with which something happened.
func TestPDFOfAChain(t *testing.T) {
	r := chain(30)
	var b bytes.Buffer
	if err := r.PDF(&b); err != nil {
		t.Fatal(err)
	}
	pages := strings.Count(b.String(), "/Type /Page\n")
	// The sites' table and the notes take two or three, the ten excursions one or two pages each.
	if pages < 1+31+10 || pages > 60 {
		t.Errorf("%d pages of 30 sites", pages)
	}
	if !strings.Contains(b.String(), "/Subtype /Image") {
		t.Error("the logo is missing")
	}
	text := written(t, chain(4))
	for _, want := range []string{"Nordlicht Märkte GmbH", "Store 01", "Store 04", "No site", "2 High Street", "There was no excursion. The days of each device are in this site’s own log."} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	if n := strings.Count(text, "Band: lowest to highest"); n != 2 {
		t.Errorf("the days of %d devices, of two there is something to say", n)
	}
	if !strings.Contains(text, "1, 1 without a corrective action") || !strings.Contains(text, "2, 2 without a corrective action") {
		t.Error("the excursions of all sites and of each are not told apart")
	}
	r = chain(3)
	r.Words = phrase.In(rimewatch.Locale{Language: "es"})
	for line := range strings.Lines(written(t, r)) {
		if strings.Contains(line, "…") {
			t.Errorf("cut: %s", line)
		}
	}
}
