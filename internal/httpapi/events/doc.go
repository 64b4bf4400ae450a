// Package events is the part of the API by which programs follow events: the feed of
// events, and the webhooks that they are sent to.
package events
