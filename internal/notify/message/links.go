package message

import (
	"encoding/json"

	"github.com/rimewatch/rimewatch"
)

// LetAcknowledge has each alert of the message that waits to be acknowledged carry where that
// is done without signing in. link returns the address for an alert at a site (0 = none), "" = there is none.
func (m *Message) LetAcknowledge(link func(alertID, siteID int64) string) {
	d := &m.Data
	switch d.Kind {
	case rimewatch.DeliveryOpened, rimewatch.DeliveryEscalated, rimewatch.DeliveryRepeat, rimewatch.DeliveryUnrouted, rimewatch.DeliveryDigest, rimewatch.DeliveryHandOver:
	default:
		return
	}
	if m.Type == dutyEnded {
		return // it is somebody else's now
	}
	var alert struct{ ID int64 }
	if json.Unmarshal(d.Alert, &alert) == nil && alert.ID != 0 {
		site := int64(0)
		if d.Site != nil {
			site = d.Site.ID
		}
		d.Acknowledge = link(alert.ID, site)
	}
	for i := range d.Alerts {
		if l := &d.Alerts[i]; !l.Over && !l.Acknowledged && l.ID != 0 {
			l.Acknowledge = link(l.ID, l.SiteID)
		}
	}
}
