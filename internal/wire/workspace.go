package wire

import (
	"cmp"
	"encoding/json"

	"github.com/rimewatch/rimewatch"
)

// Workspace is a workspace with its settings.
type Workspace struct {
	ID           int64          `json:"id"`
	Name         string         `json:"name"`
	Slug         string         `json:"slug" doc:"Names it in links, and in the header Rimewatch-Workspace."`
	OnUnknown    string         `json:"on_unknown" enum:"hold,register,refuse" doc:"What becomes of a reading whose serial is not known: it waits until somebody accepts the device, the device is created, or it is refused."`
	AutoRegister bool           `json:"auto_register" doc:"on_unknown is register."`
	TimeZone     string         `json:"timezone"`
	RawDays      int            `json:"raw_days" doc:"Days for which readings are kept."`
	RollupDays   int            `json:"rollup_days" doc:"Days for which hourly aggregates are kept."`
	SecondFactor bool           `json:"require_second_factor" doc:"Members sign in with a second factor. API tokens are not concerned."`
	Limits       typeLimits     `json:"limits" doc:"What the workspace overrides for all its devices of a type, by the slug of the type."`
	DeleteAt     rimewatch.Time `json:"delete_at" doc:"When everything in it is erased, since an owner has deleted it; null otherwise."`
	CreatedAt    rimewatch.Time `json:"created_at" nullable:"false"`
	UpdatedAt    rimewatch.Time `json:"updated_at" nullable:"false"`
	Require      string         `json:"require_action" enum:"none,critical,all" doc:"Which cases wait for documentation: none, those with a critical alert, or all."`
	LogoAt       rimewatch.Time `json:"logo_at" doc:"When its logo was set; null where it has none."`
	Test         bool           `json:"test" doc:"It is a sandbox: its devices are simulated, and it is erased at delete_at."`
}

// NewWorkspace returns the shape of w.
func NewWorkspace(w *rimewatch.Workspace) Workspace {
	return Workspace{w.ID, w.Name, w.Slug, string(w.OnUnknown), w.OnUnknown == rimewatch.RegisterUnknown, w.TimeZone, w.RawDays, w.RollupDays, w.RequireSecondFactor, w.Limits, w.DeleteAt, w.CreatedAt, w.UpdatedAt, string(cmp.Or(w.RequireAction, rimewatch.RequireNone)), w.LogoAt, w.TestOf != 0}
}

// typeLimits are overrides by type of equipment, never null.
type typeLimits map[string]rimewatch.LimitOverrides

// MarshalJSON implements json.Marshaler.
func (t typeLimits) MarshalJSON() ([]byte, error) {
	if t == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(map[string]rimewatch.LimitOverrides(t))
}
