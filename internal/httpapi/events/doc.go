// Package events is the part of the API that programs follow what happens by: the feed of
// events, and the webhooks that they are sent to.
package events
