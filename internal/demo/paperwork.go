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

// paperwork documents what happened to the pharmacy refrigerator yesterday, so that a dossier
// can be seen; what happens today waits for whoever looks at the demo.
func (d *Demo) paperwork(ctx context.Context) error {
	owner := "Demo <" + ownerEmail + ">"
	ctx = store.WithActor(ctx, owner)
	unit := d.app.Store.Identify(d.workspaceID, []byte("VAC-0001"))
	if unit == nil {
		return nil
	}
	from := d.now() - 26*rimewatch.Hour
	c, err := d.app.Store.Records().DocumentCase(ctx, d.workspaceID, rimewatch.CaseLine{Kind: rimewatch.CaseSpan, DeviceID: unit.ID, From: from, To: from + 40*rimewatch.Minute}, owner, d.now())
	if err != nil {
		return err
	}
	if err := d.document(ctx, &c); err != nil {
		return err
	}
	return d.order(ctx)
}

// order asks the service firm for work on the walk-in freezer, so that an order can be seen.
func (d *Demo) order(ctx context.Context) error {
	contacts, err := d.app.Store.Contacts().List(ctx, d.workspaceID)
	unit := d.app.Store.Identify(d.workspaceID, []byte("WIF-0001"))
	if err != nil || unit == nil {
		return err
	}
	v, err := d.app.Store.Device(ctx, d.workspaceID, "WIF-0001")
	if err != nil {
		return err
	}
	o := rimewatch.WorkOrder{
		WorkspaceID: d.workspaceID, SiteID: v.SiteID, DeviceID: v.ID, Unit: v.Name, Status: rimewatch.OrderOpen, Urgency: rimewatch.UrgencyRoutine,
		Problem: "The door frame ices up at the top: check the frame heater", Access: "Delivery entrance, ask for the shift manager", CreatedBy: "Demo", CreatedAt: d.now(), UpdatedAt: d.now(),
	}
	for i := range contacts {
		if k := &contacts[i]; k.SiteID == v.SiteID {
			if err := o.Assign(&rimewatch.Doer{Kind: rimewatch.DoerExternal, Name: k.Name, Firm: k.Company}, k.ID); err != nil {
				return err
			}
			break
		}
	}
	return d.app.Store.Records().WorkOrders().Create(ctx, &o)
}

func (d *Demo) document(ctx context.Context, c *rimewatch.Case) error {
	rosa := rimewatch.Doer{Kind: rimewatch.DoerExternal, Name: "Rosa Marín", Firm: "Polar Service"}
	at := min(c.To+20*rimewatch.Minute, d.now())
	err := d.app.Store.Records().CreateCorrectiveAction(ctx, &rimewatch.CorrectiveAction{
		WorkspaceID: d.workspaceID, CaseID: c.ID, DeviceID: c.DeviceID, At: d.now(), PerformedAt: at, PerformedBy: rosa.Name, Performed: &rosa,
		Cause: "The electrician had the circuit off", Action: "Measured the vials in three places, moved none", PreventiveAction: "A second circuit is ordered",
		Disposition: rimewatch.DispositionRelease, DispositionDetail: "Released by the manufacturer", Product: "Two shelves, all between 3 and 5 °C", RecordedBy: "Demo <" + ownerEmail + ">",
	})
	if err != nil {
		return err
	}
	photo, err := display()
	if err != nil {
		return err
	}
	return d.app.Store.Records().Attach(ctx, &rimewatch.Attachment{
		WorkspaceID: d.workspaceID, CaseID: c.ID, Name: "display.png", Type: "image/png", Width: displayWidth, Height: displayHeight, At: d.now(), By: rimewatch.Doer{Kind: rimewatch.DoerPerson, Name: "Demo"},
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
