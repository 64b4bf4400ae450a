package wire

import (
	"strings"

	"github.com/rimewatch/rimewatch"
)

// MaxGaps is how many sites without coverage are named.
const MaxGaps = 20

// Coverage reports whether somebody would be notified of a critical alert that began now.
type Coverage struct {
	Reachable  bool          `json:"reachable" doc:"Somebody would be, at every site that has a device."`
	Anywhere   bool          `json:"anywhere" doc:"Somebody would be, at one site at least; or there is no device yet."`
	Count      int           `json:"count" doc:"Sites where nobody would be."`
	Without    []CoverageGap `json:"sites_without" doc:"The first 20 of them, by id."`
	Reason     *string       `json:"reason" doc:"The first thing to mend: no_channel, off (all are disabled), failing, untested, no_route or silenced; more may be added. null while somebody is reachable everywhere."`
	ReachesYou *bool         `json:"reaches_you" doc:"Whether an enabled channel is that of whoever asks alone: a device, an own way, or mails to the person's address. null for a token."`
	Rotas      []RotaGaps    `json:"rota_gaps" doc:"Rotas that routes name and by which nobody is on duty at times within a week from now; for somebody who is limited to sites those that are told of these."`
	Silences   []Hold        `json:"silences" doc:"Silences and maintenance windows that hold messages back now, the last to end first."`
}

// CoverageGap is a site where nobody would be notified.
type CoverageGap struct {
	ID     *int64 `json:"id" doc:"null: the devices without a site."`
	Name   string `json:"name"`
	Reason string `json:"reason" doc:"As in the coverage as a whole."`
}

// Hold is a silence or a maintenance window that holds messages back.
type Hold struct {
	Kind           rimewatch.HoldKind    `json:"kind" enum:"silence,maintenance"`
	ID             int64                 `json:"id"`
	EndsAt         rimewatch.Time        `json:"ends_at" nullable:"false"`
	Comment        string                `json:"comment" doc:"Of a window its reason."`
	CreatedBy      string                `json:"created_by" doc:"A name, without its address."`
	Severities     []rimewatch.Severity  `json:"severities" enum:"warning,critical" doc:"Empty: of any severity. So it is with types, sites, equipment types and devices."`
	Types          []rimewatch.AlertType `json:"types"`
	SiteIDs        []int64               `json:"site_ids" doc:"Those that you may see. Of a window: these, or the devices."`
	EquipmentTypes []string              `json:"equipment_types"`
	DeviceIDs      []int64               `json:"device_ids"`
}

// NewCoverage returns coverage as it is answered, but for the names of sites.
func NewCoverage(c *rimewatch.Coverage) Coverage {
	out := Coverage{
		Reachable: len(c.Gaps) == 0, Anywhere: c.Anywhere, Count: len(c.Gaps), Reason: OrNull(string(c.Reason())),
		Without: make([]CoverageGap, min(len(c.Gaps), MaxGaps)), Silences: make([]Hold, len(c.Held)), Rotas: []RotaGaps{},
	}
	for i := range out.Without {
		g := &c.Gaps[i]
		out.Without[i] = CoverageGap{ID: OrNull(g.SiteID), Reason: string(g.Reason)}
	}
	for i := range c.Held {
		h := &c.Held[i]
		by, _, _ := strings.Cut(h.CreatedBy, " <")
		out.Silences[i] = Hold{
			Kind: h.Kind, ID: h.ID, EndsAt: h.EndsAt, Comment: h.Comment, CreatedBy: by, Severities: listed(h.Match.Severities), Types: listed(h.Match.Types),
			SiteIDs: listed(h.Match.SiteIDs), EquipmentTypes: listed(h.Match.EquipmentTypes), DeviceIDs: listed(h.Match.DeviceIDs),
		}
	}
	return out
}

// listed is a list that is never null.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
