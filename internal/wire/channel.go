package wire

import "github.com/rimewatch/rimewatch"

// Channel is a way in which people are notified of alerts.
type Channel struct {
	ID            int64                 `json:"id"`
	Name          string                `json:"name"`
	Kind          rimewatch.ChannelKind `json:"kind" enum:"email,webhook,service,call,push"`
	Enabled       bool                  `json:"enabled"`
	To            []string              `json:"to" doc:"Addresses of an e-mail channel; of a push channel the person whose device it is."`
	URL           *string               `json:"url" doc:"Scheme and host of a webhook or push service, the scheme of a service; the rest is a credential and never shown again. null for e-mail." example:"https://hooks.example.com/•••"`
	FallbackID    *int64                `json:"fallback_channel_id" doc:"The channel that is notified when this one keeps failing; null = any other that works."`
	Working       *bool                 `json:"working" doc:"Whether the last attempt succeeded; null before the first."`
	OwnerID       *int64                `json:"owner_id" doc:"The user id of the member whose own way it is; null = nobody's."`
	AfterS        int                   `json:"after_s" doc:"Of an own way: seconds that it waits for the member to take on an alert that came by another of theirs."`
	QuietFrom     *string               `json:"quiet_from" doc:"Of an own way: warnings wait from this time of day on (22:00) until quiet_to, by the clock of the alert's site."`
	QuietTo       *string               `json:"quiet_to"`
	Language      string                `json:"language" doc:"Of its messages: a tag; empty: English."`
	Units         string                `json:"units" enum:"c,f" doc:"Of its messages."`
	Clock         string                `json:"clock" enum:"24h,12h"`
	Dates         string                `json:"dates" enum:"dmy,mdy,ymd" doc:"The order of day, month and year."`
	LastSuccessAt rimewatch.Time        `json:"last_success_at"`
	LastFailureAt rimewatch.Time        `json:"last_failure_at"`
	LastError     *string               `json:"last_error"`
	Failures      int                   `json:"failures" doc:"Attempts in a row that failed."`
	CreatedAt     rimewatch.Time        `json:"created_at" nullable:"false"`
	UpdatedAt     rimewatch.Time        `json:"updated_at" nullable:"false"`
}

// NewChannel returns a channel as it is shown: without what is a credential.
func NewChannel(c *rimewatch.Channel, say func(english string) string) Channel {
	l := c.Full()
	out := Channel{
		ID: c.ID, Name: c.Name, Kind: c.Kind, Enabled: c.Enabled, To: c.To, URL: OrNull(c.MaskedURL()), FallbackID: OrNull(c.FallbackID),
		Language: c.Language, Units: l.Units, Clock: l.Clock, Dates: l.Dates,
		LastSuccessAt: c.LastSuccessAt, LastFailureAt: c.LastFailureAt, LastError: OrNull(rimewatch.SentenceOf(c.LastError).In(say)), Failures: c.Failures,
		CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
	}
	out.OwnerID, out.AfterS = OrNull(c.OwnerID), c.AfterS
	if q := c.Quiet; q != nil {
		out.QuietFrom, out.QuietTo = OrNull(rimewatch.TimeOfDay(q.From)), OrNull(rimewatch.TimeOfDay(q.To))
	}
	if c.To == nil {
		out.To = []string{}
	}
	if works, tried := c.Working(); tried {
		out.Working = &works
	}
	return out
}

// NotificationState reports whether anybody in a workspace is notified of alerts.
type NotificationState struct {
	WorkingChannels int     `json:"working_channels" doc:"Enabled channels whose last attempt succeeded."`
	UntriedChannels int     `json:"untried_channels" doc:"Enabled channels to which nothing was sent yet."`
	Warning         *string `json:"warning" doc:"Set while no channel is known to work."`
	UnroutedAlerts  int     `json:"unrouted_alerts" doc:"Active critical alerts that no route brings to anybody: they went to every channel that works."`
	UntoldAlerts    int     `json:"untold_alerts" doc:"Active critical alerts that nobody could be notified of."`
}

// NewNotificationState sums up the channels of a workspace.
func NewNotificationState(list []rimewatch.Channel) NotificationState {
	var s NotificationState
	for i := range list {
		works, tried := list[i].Working()
		switch {
		case !list[i].Enabled:
		case works:
			s.WorkingChannels++
		case !tried:
			s.UntriedChannels++
		}
	}
	switch {
	case s.WorkingChannels > 0:
	case s.UntriedChannels > 0:
		s.Warning = OrNull("No channel has been tried yet: send a test to see whether alerts arrive.")
	default:
		s.Warning = OrNull("No channel works: nobody is notified of alerts.")
	}
	return s
}
