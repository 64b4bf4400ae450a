package alert

import (
	"fmt"
	"time"

	"github.com/rimewatch/rimewatch"
)

// SiteOutage is what there is to say of a site whose devices fell silent
// together.
type SiteOutage struct {
	Site     string
	Silent   int // devices that are silent now
	Devices  int // that were online when it began, or have been since
	Lasted   time.Duration
	Critical bool
	Over     bool
}

// Describe says it in the words of a technician.
func (o SiteOutage) Describe() (title, message string) {
	title = o.Site + " is offline"
	switch {
	case o.Over && o.Silent == 0:
		message = fmt.Sprintf("All of its devices are heard again, after %s offline.", rimewatch.Span(o.Lasted))
	case o.Over:
		message = fmt.Sprintf("%d of its %d devices are heard again, after %s offline. The other %d are told of one by one.",
			o.Devices-o.Silent, o.Devices, rimewatch.Span(o.Lasted), o.Silent)
	default:
		message = fmt.Sprintf("%d of its %d devices fell silent together. Nobody sees their temperatures now. "+
			"Check the site's power first, then its gateway and its internet connection.", o.Silent, o.Devices)
		if o.Critical {
			message += " It has lasted so long that the temperatures should be read by hand."
		}
	}
	return title, message
}
