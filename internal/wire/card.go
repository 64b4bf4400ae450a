package wire

import "github.com/rimewatch/rimewatch"

// Card is one alert for somebody who sees nothing else of its workspace.
type Card struct {
	Workspace string             `json:"workspace" doc:"Its name."`
	Slug      string             `json:"slug" doc:"By which pages of the workspace are addressed."`
	Active    bool               `json:"active"`
	Severity  rimewatch.Severity `json:"severity" enum:"warning,critical"`
	Title     string             `json:"title" example:"Back walk-in: 8.2 °C, too warm for 34 min"`
	Text      string             `json:"text" doc:"One or a few sentences."`
	Facts     []Fact             `json:"facts" doc:"In the order in which they matter: the unit, its site, what was measured, the limit, since when."`
	State     string             `json:"state" doc:"A sentence that says who has acknowledged it, or since when it is over; empty while it waits."`
}

// Fact is one line of a summary.
type Fact struct {
	Label string `json:"label"`
	Value string `json:"value"`
}
