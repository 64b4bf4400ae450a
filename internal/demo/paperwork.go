package demo

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/draw"
	"image/png"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// paperwork documents one of the cases that the past has left, so that a dossier can be seen;
// the others wait.
func (d *Demo) paperwork(ctx context.Context) error {
	ctx = store.WithActor(ctx, "Demo <"+ownerEmail+">")
	cases, _, err := d.app.Store.Cases(ctx, d.workspaceID, store.CaseFilter{Status: rimewatch.CaseOpen}, store.Page{Limit: 100})
	if err != nil {
		return err
	}
	for i := range cases {
		if c := &cases[i]; c.To != 0 && c.DeviceID != 0 {
			return d.document(ctx, c)
		}
	}
	return nil
}

func (d *Demo) document(ctx context.Context, c *rimewatch.Case) error {
	rosa := rimewatch.Doer{Kind: rimewatch.DoerExternal, Name: "Rosa Marín", Firm: "Polar Service"}
	at := min(c.To+20*rimewatch.Minute, d.now())
	err := d.app.Store.CreateCorrectiveAction(ctx, &rimewatch.CorrectiveAction{
		WorkspaceID: d.workspaceID, CaseID: c.ID, DeviceID: c.DeviceID, At: d.now(), PerformedAt: at, PerformedBy: rosa.Name, Performed: &rosa,
		Cause: "The door had not closed behind a delivery", Action: "Closed the door, checked the gasket, measured the product in three places", PreventiveAction: "A sign at the door",
		Disposition: rimewatch.DispositionRelease, DispositionDetail: "Used", Product: "Two shelves, all below 5 °C in the core", RecordedBy: "Demo <" + ownerEmail + ">",
	})
	if err != nil {
		return err
	}
	photo, err := display()
	if err != nil {
		return err
	}
	return d.app.Store.Attach(ctx, &rimewatch.Attachment{
		WorkspaceID: d.workspaceID, CaseID: c.ID, Name: "display.png", Type: "image/png", Width: displayWidth, Height: displayHeight, At: d.now(), By: rosa,
	}, photo)
}

const displayWidth, displayHeight = 640, 420

// segments of the digits 3 and 4 as rectangles, in tenths of a digit's width and height.
var segments = map[rune][]image.Rectangle{
	'3': {image.Rect(0, 0, 10, 2), image.Rect(8, 0, 10, 20), image.Rect(0, 9, 10, 11), image.Rect(0, 18, 10, 20)},
	'4': {image.Rect(0, 0, 2, 11), image.Rect(8, 0, 10, 20), image.Rect(0, 9, 10, 11)},
	'.': {image.Rect(4, 18, 6, 20)},
}

// display draws the display of a unit that shows 3.4.
func display() ([]byte, error) {
	img := image.NewRGBA(image.Rect(0, 0, displayWidth, displayHeight))
	fill := func(r image.Rectangle, c color.RGBA) { draw.Draw(img, r, image.NewUniform(c), image.Point{}, draw.Src) }
	fill(img.Rect, color.RGBA{206, 212, 218, 255})
	fill(image.Rect(60, 70, 580, 350), color.RGBA{20, 24, 28, 255})
	x := 150
	for _, digit := range "3.4" {
		for _, s := range segments[digit] {
			fill(image.Rect(x+10*s.Min.X, 110+10*s.Min.Y, x+10*s.Max.X, 110+10*s.Max.Y), color.RGBA{90, 220, 140, 255})
		}
		x += 120
	}
	var b bytes.Buffer
	err := png.Encode(&b, img)
	return b.Bytes(), err
}
