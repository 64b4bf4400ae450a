package rimewatch

import "slices"

// CheckPack is a ready-made round: what a rule or a habit of the trade asks for, as data, with where that stands.
// Following it proves nothing about the rule.
type CheckPack struct {
	Slug       string
	Name       string // English
	Text       string // English: what is asked for
	Source     string
	URL        string // "" = we have read a copy
	Dated      string // of the source, as far as it says
	Read       string // English: what of it was read
	Unread     string // English: what was not
	Categories []Category
	Windows    []CheckWindow
	Ask        CheckAsk
}

const (
	daily    = 0b1111111
	workdays = 0b0111110
)

// CheckPacks lists the packs. What a state asks for is left out where its text could not be read (Connecticut, Texas).
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
