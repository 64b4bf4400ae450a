package plan

import "github.com/rimewatch/rimewatch"

// Fallback chooses from a workspace's channels the one through which a failing one is reported: the
// one that people named if it is switched on, or of those that work the one that did so
// last, or else one that may work again; 0 = there is none.
func Fallback(failing *rimewatch.Channel, list []rimewatch.Channel) int64 {
	var best rimewatch.Channel
	for i := range list {
		o := &list[i]
		if o.ID == failing.ID || !o.Enabled {
			continue
		}
		if o.ID == failing.FallbackID {
			return o.ID
		}
		if best.ID == 0 || (o.Failures == 0 && best.Failures > 0) || ((o.Failures == 0) == (best.Failures == 0) && o.LastSuccessAt > best.LastSuccessAt) {
			best = *o
		}
	}
	return best.ID
}
