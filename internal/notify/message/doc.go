// Package message says what people are notified of: one Message is everything that a
// channel needs to convey it, whatever its form. It is made when a delivery is
// planned, kept as JSON with the delivery, and sent as it is however often it
// takes: a webhook's receiver gets the JSON itself.
//
// The texts are for somebody who is woken at three in the morning: what, where,
// since when, which limit, what to do, and a link.
package message
