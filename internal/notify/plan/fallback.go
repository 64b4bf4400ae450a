package plan

import "github.com/rimewatch/rimewatch"

// Fallback chooses the channel through which a failing one is reported: the
// one that people named if it is switched on, or of those that work the one that did so
// last, or else one that may work again; 0 = there is none. A phone or an own way of somebody who
// is limited to sites is not told of others, whose alerts may wait.
func (r *Rules) Fallback(failing *rimewatch.Channel) int64 {
	var best rimewatch.Channel
	for i := range r.Channels {
		o := &r.Channels[i]
		if m := r.Owner(o); o.ID == failing.ID || !o.Enabled || (o.Kind == rimewatch.ChannelPush || o.OwnerID != 0) && (m == nil && o.OwnerID != 0 || m != nil && m.Sites != nil) {
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
