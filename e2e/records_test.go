package e2e

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
)

// testRecords: an excursion, what was done about it, a calibration, and the log
// of them all.
func testRecords(t *testing.T, c *client.Client) {
	ctx := t.Context()
	zero := 0
	must[client.Device](t)(c.CreateDevice(ctx, "REC", client.DeviceFields{
		EquipmentType: client.Value("walkin_freezer"), Limits: &rimewatch.LimitOverrides{DelayS: &zero, CriticalDelayS: &zero, ClearS: &zero}, OfflineAfterS: client.Value(86_400),
	}))
	now := rimewatch.TimeOf(time.Now())
	send := func(at rimewatch.Time, temp float64) {
		t.Helper()
		r := client.Reading{DeviceSerial: "REC", RecordedAt: at}
		r.ProductZoneTemp = &temp
		if _, _, err := c.PostReading(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	send(now-20*rimewatch.Second, -20)
	send(now-10*rimewatch.Second, -9)
	open := must[[]client.Excursion](t)(c.Records().Excursions(ctx, "rec", 0, 0))
	if len(open) != 1 || open[0].To != 0 || open[0].Peak != -9 || open[0].DeviceSerial != "REC" {
		t.Errorf("while it lasts: %+v", open)
	}
	var alert client.Alert
	for a, err := range c.Alerts(ctx, client.AlertFilter{DeviceSerial: "REC"}) {
		if err != nil {
			t.Fatal(err)
		}
		alert = a
	}
	action := must[client.CorrectiveAction](t)(c.Records().RecordCorrectiveAction(ctx, alert.ID, client.CorrectiveActionFields{PerformedBy: "Ana", Cause: "Door", Action: "Closed it"}))
	if list := must[[]client.CorrectiveAction](t)(c.Records().CorrectiveActions(ctx, alert.ID)); len(list) != 1 || list[0] != action || action.Disposition != "" || action.Performed.Kind != rimewatch.DoerToken || action.DeviceSerial != "REC" {
		t.Errorf("%+v, %+v", action, list)
	}
	_, err := c.Records().RecordCorrectiveAction(ctx, alert.ID, client.CorrectiveActionFields{PerformedBy: "Ana", VerifiedBy: "Bo", Cause: "Door", Action: "Closed it"})
	wantCode(t, err, rimewatch.CodePersonRequired, 422)

	work := must[client.CorrectiveAction](t)(c.Records().RecordWork(ctx, "REC", client.WorkFields{PerformedBy: "Bo", Action: "Condenser cleaned"}))
	if list := must[[]client.CorrectiveAction](t)(c.Records().Work(ctx, "rec", 0, 0)); len(list) != 2 || list[0] != action || list[1] != work || work.AlertID != 0 || work.DeviceSerial != "REC" {
		t.Errorf("%+v, %+v", work, list)
	}
	_, err = c.Records().RecordWork(ctx, "REC", client.WorkFields{PerformedBy: "Bo", Action: " "})
	wantCode(t, err, rimewatch.CodeValidationFailed, 422)
	_, err = c.Records().RecordWork(ctx, "REC", client.WorkFields{PerformedBy: "Bo", Action: "Tomorrow's work", PerformedAt: now + rimewatch.Day})
	wantCode(t, err, rimewatch.CodeValidationFailed, 422)
	_, err = c.Records().RecordWork(ctx, "NONE", client.WorkFields{PerformedBy: "Bo", Action: "Cleaned"})
	wantCode(t, err, rimewatch.CodeDeviceNotFound, 404)

	calibration := must[client.Calibration](t)(c.Records().RecordCalibration(ctx, "REC", client.CalibrationFields{Method: "ice_point", AsFound: 0.5, Offset: client.Value(-0.5), PerformedBy: "Ana", PerformedAt: now - rimewatch.Second}))
	if list := must[[]client.Calibration](t)(c.Records().Calibrations(ctx, "REC")); len(list) != 1 || list[0].ID != calibration.ID || !calibration.Passed || calibration.Field != "product_zone_temp" {
		t.Errorf("%+v, %+v", calibration, list)
	}
	send(now, -20)
	d := must[client.Device](t)(c.Device(ctx, "REC"))
	if d.CurrentTemp == nil || *d.CurrentTemp != -20.5 || len(d.Offsets) != 1 || d.Calibration == nil || d.Calibration.Overdue {
		t.Errorf("corrected: %+v", d)
	}
	if ended := must[[]client.Excursion](t)(c.Records().Excursions(ctx, "REC", 0, 0)); len(ended) != 1 || ended[0].To != now {
		t.Errorf("ended: %+v", ended)
	}
	for format, want := range map[string]string{client.FormatJSON: `"performed_by":"Ana"`, client.FormatCSV: "\ncorrective_action,", client.FormatPDF: "%PDF-"} {
		var b bytes.Buffer
		if err := c.Records().TemperatureLog(ctx, client.TemperatureLogQuery{DeviceSerial: "REC"}, format, &b); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%s: %v\n%.2000s", format, err, b.String())
		}
	}
	wantCode(t, c.Records().TemperatureLog(ctx, client.TemperatureLogQuery{From: "2020-01-01"}, "", &bytes.Buffer{}), rimewatch.CodeValidationFailed, 422)
	if _, err := c.DeleteDevice(ctx, "REC"); err != nil {
		t.Error(err)
	}
}
