// Package presence decides whether a device is online. It is pure: signs of
// life and moments in, presence and the next deadline out. State is the
// memory of one device.
//
// A device is online on any heartbeat or reading, by arrival, and offline after
// a silence of OfflineAfter: what was configured for it; or three times the declared
// interval; or the usual one of senders of its kind; or the learnt one: 1.5 times the
// gap that all but 5 % of the last 100 to 200 are within, or a little more than the
// median of the last five to eight, whichever is longer, at least three minutes
// and at most six hours. Until there are five gaps, the longest of them stands in for
// the interval, an hour at most. What is learnt is used up to the alarm delay of the
// unit: beyond it a person is asked, since a silent freezer would otherwise be
// noticed later than a warm one. A state of version 1, of which nobody was asked,
// keeps the time that it had.
//
// Arrivals within a second of each other (a batch, a backlog) are one sign of life; gaps
// of more than a day say nothing, nor do those in which the service itself was down.
// A gap that outlasted the deadline counts: otherwise a device that reports every ten
// minutes would go offline between its reports for ever; up to two such gaps are outages.
// While the service was down no device could be heard, so every deadline moves by the
// downtime that followed the last sign of life.
package presence
