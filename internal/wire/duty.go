package wire

import "github.com/rimewatch/rimewatch"

// GapsAhead is how far ahead gaps of rotas are looked for.
const GapsAhead = 7 * rimewatch.Day

// maxGaps is how many gaps of a rota are named.
const maxGaps = 20

// PersonOnDuty is a member who is on duty.
type PersonOnDuty struct {
	ID   int64  `json:"id" doc:"The user's."`
	Name string `json:"name"`
}

// DutyGap is a span during which nobody is on duty.
type DutyGap struct {
	From rimewatch.Time `json:"from" nullable:"false"`
	To   rimewatch.Time `json:"to" nullable:"false"`
}

// NewDutyGaps returns the first gaps of a rota as they are answered.
func NewDutyGaps(list []rimewatch.Duty) []DutyGap {
	out := make([]DutyGap, min(len(list), maxGaps))
	for i := range out {
		out[i] = DutyGap{list[i].From, list[i].To}
	}
	return out
}

// RotaGaps are the gaps of a rota that routes name.
type RotaGaps struct {
	ID      int64     `json:"id" doc:"Of the rota."`
	Name    string    `json:"name"`
	Zone    string    `json:"timezone" doc:"Of the clock that it goes by."`
	SiteIDs []int64   `json:"site_ids" doc:"Sites whose alerts routes bring to it, of those that you may see. Empty: of any site."`
	Gaps    []DutyGap `json:"gaps"`
}
