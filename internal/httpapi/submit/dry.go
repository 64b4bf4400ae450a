package submit

import (
	"context"
	"net/http"
	"strconv"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// DryRun is the data of the answer to a reading with dry_run.
type DryRun struct {
	DryRun       bool     `json:"dry_run" doc:"Always true here: nothing was stored, and the device was not heard."`
	Would        int      `json:"would" enum:"200,201,202" doc:"The status without dry_run: 201 it would be stored, 200 it is there already, 202 it would wait until somebody accepts the device."`
	DeviceSerial string   `json:"device_serial"`
	Ignored      []string `json:"ignored_fields,omitempty" doc:"Fields that are not known here and would be left out, the first 32. Absent when there are none."`
}

// dry leaves in s.Out what would become of the reading in body, and does nothing else: no key and no
// rate is spent, and it is no sign of life.
func (g *Readings) dry(ctx context.Context, p *account.Principal, now rimewatch.Time, body []byte, s *Scratch) (status int, err *rimewatch.Error) {
	settings, who, err := g.read(ctx, p, now, body, s)
	if err != nil {
		return 0, err
	}
	serial := string(s.sent.Serial)
	if who == nil {
		var failed error
		if who, _, failed = g.Waiting.Bound(ctx, p.WorkspaceID, serial); failed != nil {
			return 0, httpapi.AsError(failed)
		}
	}
	would := http.StatusCreated
	switch {
	case who != nil:
		serial = who.Serial
		there, failed := g.there(ctx, who, s.sent.Reading)
		if failed != nil {
			return 0, httpapi.AsError(failed)
		}
		if there {
			would = http.StatusOK
		}
	case settings.OnUnknown == rimewatch.HoldUnknown:
		would = http.StatusAccepted
	case settings.OnUnknown == rimewatch.RefuseUnknown:
		return 0, errUnknownDevice()
	}
	s.Out = append(s.Out[:0], `{"success":true,"data":{"dry_run":true,"would":`...)
	s.Out = append(strconv.AppendInt(s.Out, int64(would), 10), `,"device_serial":`...)
	s.Out = append(appendIgnored(wire.AppendString(s.Out, serial), s.sent.Ignored), "}}\n"...)
	return http.StatusOK, nil
}

// there reports whether all that a reading says of its moment is stored: what it has beside that
// would be stored at the next free millisecond.
func (g *Readings) there(ctx context.Context, who *store.Identity, r rimewatch.Reading) (bool, error) {
	if r.At == 0 {
		return false, nil
	}
	for {
		stored, err := g.History.ReadingAt(ctx, who.ID, r.At)
		if rimewatch.CodeOf(err) == rimewatch.CodeNotFound {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		left := r.Without(&stored)
		if left.Empty() {
			return true, nil
		}
		r = left
		r.At++
	}
}
