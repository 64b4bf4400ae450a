package wire

import "github.com/rimewatch/rimewatch"

// AlertDetail is an alert in the answers that are about one.
type AlertDetail struct {
	Alert
	Escalation Maybe[Escalation] `json:"escalation" doc:"Who has been told of it and who is told next; null once it is over."`
	CaseID     *int64            `json:"case_id" doc:"The case that it is in; null when it is in none."`
}

// Escalation lists the recipients of an alert so far, and the next ones unless somebody acknowledges it.
type Escalation struct {
	Level  int            `json:"level" doc:"Steps of its route that have been taken, of several routes the most; 0 while nobody has been told."`
	Told   []Told         `json:"told" doc:"In the order in which they were told."`
	NextAt rimewatch.Time `json:"next_at" doc:"When the next step is taken; null when there is none."`
	Next   []Recipient    `json:"next"`
}

// Call lists the recipients of an alert at a time after it began, unless somebody acknowledges it.
type Call struct {
	AfterS int64       `json:"after_s"`
	To     []Recipient `json:"to"`
}

// Recipient is somebody, or something, that is told of alerts.
type Recipient struct {
	Kind string `json:"kind" doc:"member or contact, when it is the way of one person alone, or channel; an open set."`
	ID   int64  `json:"id" doc:"Of the channel, or the user's of a member."`
	Name string `json:"name"`
}

// Told is a recipient and when the first message arrived there.
type Told struct {
	Recipient
	At rimewatch.Time `json:"at" nullable:"false"`
}
