package account

import (
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

// TestSandboxesADay: a workspace makes five sandboxes within 24 hours, also where they have ended, and over a restart.
func TestSandboxesADay(t *testing.T) {
	f := newFixture(t)
	at := rimewatch.TimeOf(time.Now()) // that of the audit trail
	for range rimewatch.SandboxesADay {
		_, _, err := f.CreateSandbox(f.ctx, f.op, 1, at)
		f.ok(err)
		_, err = f.EndSandbox(f.ctx, f.op, at)
		f.ok(err)
	}
	again := f.other()
	_, _, err := again.CreateSandbox(f.ctx, f.op, 1, at)
	f.code(err, rimewatch.CodeRateLimited)
	_, _, err = again.CreateSandbox(f.ctx, f.op, 1, at+rimewatch.Day+rimewatch.Hour)
	f.ok(err)
}
