package rimewatch

import (
	"slices"
	"time"
)

// Bounds of rounds.
const (
	MaxCheckTemplates = 100            // of a workspace
	MaxCheckWindows   = 12             // of a template
	MaxCheckDevices   = 1000           // that a template lists
	MaxCheckNotes     = 100            // of a check
	MinCheckWindow    = 15             // minutes
	CheckEntered      = Day            // for so long after it was done a check may be entered: a phone had no network
	CheckLookBack     = 31 * Day       // windows that began longer ago while the service was not running are not written down
	checkAtLeast      = Time(1) * Hour // length of a window in the night in which clocks are set, unless it is shorter
)

// CheckTemplate is a round: the devices to look at, the times, and the values to write down.
type CheckTemplate struct {
	ID          int64
	WorkspaceID int64
	SiteID      int64 // 0 = every site of the workspace
	Name        string
	Pack        string     // slug of the CheckPack that it was made from, "" = of none
	Categories  []Category // of the equipment that is looked at, empty = of any
	DeviceIDs   []int64    // the devices that are looked at, empty = all
	Windows     []CheckWindow
	Ask         CheckAsk
	Tell        CheckTell
	Enabled     bool
	Through     Time  // checks of the windows that began up to this moment are written down, or are not to be; 0 = nothing was looked at yet
	Revision    int64 // of what people set: 1 at first, grows with every change
	CreatedAt   Time
	UpdatedAt   Time
}

// CheckAsk selects the values to write down for each device besides the sensor's.
type CheckAsk struct {
	Range bool `json:"range,omitempty"` // lowest and highest value since the check before
	Typed bool `json:"typed,omitempty"` // the value of another thermometer
}

// CheckTell selects the checks that a site's recipients are notified of.
type CheckTell string

// The choices.
const (
	TellMissed   CheckTell = "missed"
	TellDue      CheckTell = "due"
	TellBoth     CheckTell = "both"
	TellNoChecks CheckTell = "never"
)

// Of reports whether a check of that status is notified.
func (t CheckTell) Of(s CheckStatus) bool {
	return t == TellBoth || t == TellMissed && s == CheckMissed || t == TellDue && s == CheckDue
}

// Check reports why t cannot be stored: CodeValidationFailed with the fields name, pack, categories,
// device_ids, windows, tell. That its site and devices exist is for the store to know.
func (t *CheckTemplate) Check() error {
	e := checkName(t.Name)
	if _, ok := CheckPackBySlug(t.Pack); t.Pack != "" && !ok {
		e = complain(e, "pack", "is not known")
	}
	for _, c := range t.Categories {
		if !slices.Contains(Categories(), c) {
			e = complain(e, "categories", "%q is not known", c)
		}
	}
	if len(t.DeviceIDs) > MaxCheckDevices {
		e = complain(e, "device_ids", "must not be more than %d", MaxCheckDevices)
	}
	switch t.Tell {
	case TellMissed, TellDue, TellBoth, TellNoChecks:
	default:
		e = complain(e, "tell", "must be missed, due, both or never")
	}
	return result(t.checkWindows(e))
}

func (t *CheckTemplate) checkWindows(e *Error) *Error {
	if len(t.Windows) == 0 || len(t.Windows) > MaxCheckWindows {
		return complain(e, "windows", "must be 1 to %d", MaxCheckWindows)
	}
	for i, w := range t.Windows {
		switch {
		case w.Days == 0 || w.Days > 127 || !minuteOfDay(w.From) || !minuteOfDay(w.To):
			return complain(e, "windows", "must name days and two times of day")
		case w.minutes() < MinCheckWindow:
			return complain(e, "windows", "must last %d minutes at least", MinCheckWindow)
		}
		if slices.ContainsFunc(t.Windows[:i], func(o CheckWindow) bool { return o.From == w.From && o.Days&w.Days != 0 }) {
			return complain(e, "windows", "must not begin at the same time of a day")
		}
	}
	return e
}

// Covers reports whether a device of a type is one that is looked at.
func (t *CheckTemplate) Covers(deviceID int64, equipmentType string) bool {
	e, known := EquipmentBySlug(equipmentType)
	return known && e.HasZone() && (len(t.DeviceIDs) == 0 || slices.Contains(t.DeviceIDs, deviceID)) && (len(t.Categories) == 0 || slices.Contains(t.Categories, e.Category))
}

// SamePlan reports whether checks of t and o open at the same moments and places.
func (t *CheckTemplate) SamePlan(o *CheckTemplate) bool {
	return t.Enabled == o.Enabled && t.SiteID == o.SiteID && slices.Equal(t.Windows, o.Windows)
}

// Spans are the windows that begin after a moment, up to another one, by the clock of a zone, by From, as weekly has them.
func (t *CheckTemplate) Spans(after, to Time, zone *time.Location) []CheckSpan {
	return weekly(t.Windows, after, to, zone)
}

// CheckStatus is where a check is.
type CheckStatus string

// The states of a check.
const (
	CheckDue       CheckStatus = "due"
	CheckCompleted CheckStatus = "completed"
	CheckMissed    CheckStatus = "missed"
)

// CheckReason is why a check was missed.
type CheckReason string

// The reasons.
const (
	CheckNotDone    CheckReason = "not_done"
	CheckNotRunning CheckReason = "service_not_running" // for as long as the window lasted
)

// Check is a round on one day at one site.
type Check struct {
	ID          int64
	WorkspaceID int64
	TemplateID  int64
	SiteID      int64 // 0 = of devices without a site
	Name        string
	Pack        string
	Ask         CheckAsk
	CheckSpan
	Status      CheckStatus
	Reason      CheckReason // of one that was missed, "" otherwise
	OpenedAt    Time        // when the service wrote it down
	Since       Time        // when the check before this one was completed, as far as that is known; 0 = there is none
	CompletedAt Time        // when somebody did it, 0 = nobody has
	EnteredAt   Time        // when that was entered
	By          *Doer       // who did it
	Items       []CheckItem // by name; without values until it is completed
}

// CheckItem is a device of a check. The sensor's values are read by the service, never sent by the caller.
type CheckItem struct {
	DeviceID int64     `json:"device_id"`
	Serial   string    `json:"serial"`
	Name     string    `json:"name"`
	Gone     CheckGone `json:"gone,omitempty"`     // there was nothing to look at any more
	Value    *float64  `json:"value,omitempty"`    // °C, what the sensor said
	ValueAt  Time      `json:"value_at,omitempty"` // when it did
	Min      *float64  `json:"min,omitempty"`      // °C, the lowest since the check before
	MinAt    Time      `json:"min_at,omitempty"`
	Max      *float64  `json:"max,omitempty"`
	MaxAt    Time      `json:"max_at,omitempty"`
	From     Time      `json:"from,omitempty"`  // since when Min and Max are
	Typed    *float64  `json:"typed,omitempty"` // °C, what somebody read from another thermometer
	Low      *float64  `json:"low,omitempty"`   // °C, the limits of that moment
	High     *float64  `json:"high,omitempty"`
	Out      bool      `json:"out,omitempty"` // one of the values is outside the limits
	Note     string    `json:"note,omitempty"`
}

// CheckGone is why there was nothing to look at.
type CheckGone string

// The reasons.
const (
	GoneDeleted CheckGone = "deleted"
	GoneMoved   CheckGone = "moved" // to another site
)

// CheckNote is a later entry, or one by a second person. It leaves the check unchanged.
type CheckNote struct {
	ID          int64       `json:"-"`
	WorkspaceID int64       `json:"-"`
	CheckID     int64       `json:"-"`
	At          Time        `json:"-"`     // when it was entered
	About       Time        `json:"about"` // the time that it is about
	By          Doer        `json:"by"`
	Text        string      `json:"text,omitempty"`
	Items       []CheckItem `json:"items,omitempty"` // of a completion that did not count
}

// CheckPack is a ready-made round: the demands of a rule or a habit of the trade, as data with their source.
// Following it proves nothing about the rule.
type CheckPack struct {
	Slug       string
	Name       string // English
	Text       string // English: the demands
	Source     string
	URL        string // "" = we have read a copy
	Dated      string // of the source, as far as it says
	Read       string // English: the parts of the source that were read
	Unread     string // English: the parts that were not
	Categories []Category
	Windows    []CheckWindow
	Ask        CheckAsk
}

const (
	daily    = 0b1111111
	workdays = 0b0111110
)

// CheckPacks lists the packs. States whose text could not be read are left out (Connecticut, Texas).
func CheckPacks() []CheckPack {
	medical := []Category{CategoryMedical}
	twice := []CheckWindow{{workdays, 7 * 60, 10 * 60}, {workdays, 16 * 60, 19 * 60}}
	return []CheckPack{
		{
			Slug: "haccp-ampm", Name: "Food: morning and evening", Text: "Every unit is looked at twice a day; what is out of limits needs a note of what was done.",
			Source: "21 CFR 117.305", URL: "https://www.ecfr.gov/current/title-21/section-117.305", Dated: "2015",
			Read:    "What a record has to hold: actual values, date and time, and who made it.",
			Unread:  "How often to look. No rule that we know says twice a day: it is a habit of the trade, and your plan may ask for something else.",
			Windows: []CheckWindow{{daily, 6 * 60, 10 * 60}, {daily, 17 * 60, 21 * 60}},
		},
		{
			Slug: "us-cdc-vfc", Name: "US vaccines: start of each workday", Text: "Lowest and highest temperature since the last check, with the time to the minute, at the start of each workday, and who looked.",
			Source: "CDC Vaccine Storage and Handling Toolkit", URL: "https://www.cdc.gov/vaccines/hcp/admin/storage/toolkit/index.html", Dated: "2024-03-29",
			Read:    "Immunize.org's answer on what the toolkit and the Vaccines for Children program ask for, and the temperature log form that goes with it.",
			Unread:  "The toolkit's own chapter on monitoring, and what your state asks for besides.",
			Windows: []CheckWindow{{workdays, 7 * 60, 10 * 60}}, Ask: CheckAsk{Range: true}, Categories: medical,
		},
		{
			Slug: "us-ca", Name: "California vaccines: twice a day", Text: "Current, lowest and highest temperature twice a day.",
			Source: "California Vaccines for Children, EZIZ: Monitoring Temperature", URL: "https://eziz.org/vaccine-storage/monitoring-temperature",
			Read:    "The page on monitoring temperature.",
			Unread:  "The log form itself, its guidance, and the provider agreement.",
			Windows: twice, Ask: CheckAsk{Range: true}, Categories: medical,
		},
		{
			Slug: "us-ny", Name: "New York State vaccines: opening and closing", Text: "Every unit with vaccine is looked at when the clinic opens and when it closes.",
			Source: "New York State Vaccines for Children: Temperature Monitoring Device Guidance", Dated: "2016",
			Read:    "The guidance of 2016.",
			Unread:  "What is in force since. A later summary asks for lowest and highest once a day when the office opens, so that is asked for here, too.",
			Windows: twice, Ask: CheckAsk{Range: true}, Categories: medical,
		},
	}
}

// CheckPackBySlug finds a pack.
func CheckPackBySlug(slug string) (CheckPack, bool) {
	list := CheckPacks()
	i := slices.IndexFunc(list, func(p CheckPack) bool { return p.Slug == slug })
	if i < 0 {
		return CheckPack{}, false
	}
	return list[i], true
}
