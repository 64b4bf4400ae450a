package rimewatch

// Coverage is whether somebody would be notified of a critical alert that began now, site
// by site.
type Coverage struct {
	Gaps     []CoverageGap // sites where nobody would be, by id
	Anywhere bool          // somebody would be somewhere, or there is no device
	Held     []Hold        // silences and maintenance windows that hold, the last to end first
}

// CoverageGap is a site where nobody would be notified: of one device at least, or of all
// where they are silenced. SiteID 0 are the devices without a site.
type CoverageGap struct {
	SiteID int64
	Reason CoverageReason
}

// CoverageReason is why nobody would be notified. "" = somebody would be.
type CoverageReason string

// The reasons, the first thing to do first.
const (
	CoverageNoChannel CoverageReason = "no_channel" // there is none
	CoverageOff       CoverageReason = "off"        // the channels are disabled
	CoverageFailing   CoverageReason = "failing"    // their last messages did not arrive
	CoverageUntested  CoverageReason = "untested"   // nothing was ever sent through them
	CoverageNoRoute   CoverageReason = "no_route"   // no route matches, and no channel is known to work
	CoverageSilenced  CoverageReason = "silenced"   // by a silence or a maintenance window
)

// CoverageReasons lists the reasons in their order.
func CoverageReasons() []CoverageReason {
	return []CoverageReason{CoverageNoChannel, CoverageOff, CoverageFailing, CoverageUntested, CoverageNoRoute, CoverageSilenced}
}

// HoldKind is what holds messages back.
type HoldKind string

// The kinds of holds.
const (
	HoldSilence     HoldKind = "silence"
	HoldMaintenance HoldKind = "maintenance"
)

// Hold is a silence or a maintenance window that holds messages back now.
type Hold struct {
	Kind      HoldKind
	ID        int64
	Match     Matchers // of a window sites and devices: any of them
	EndsAt    Time
	Comment   string
	CreatedBy string
}

// Reason is why nobody would be notified at the site that needs a hand first, "" where
// somebody would be everywhere.
func (c *Coverage) Reason() CoverageReason {
	for _, r := range CoverageReasons() {
		for i := range c.Gaps {
			if c.Gaps[i].Reason == r {
				return r
			}
		}
	}
	return ""
}
