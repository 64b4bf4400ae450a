// Package presence decides whether a device is online. It is pure: signs of
// life and moments in, presence and the next deadline out. State is the
// memory of one device.
//
// A device is online on any heartbeat or reading, by arrival, and offline after
// a silence of OfflineAfter: what was configured for it, or three times its
// interval but at least three minutes. The interval is the one declared, or the
// median of the last five to eight gaps between arrivals; until there are five, the
// longest of them stands in for it, an hour at most. Arrivals within a
// second of each other (a batch, a backlog) are one sign of life; gaps of more
// than a day say nothing. A gap that outlasted the deadline counts: otherwise a
// device that reports every ten minutes would go offline between its reports
// for ever. While the service itself was down nobody could be heard, so every
// deadline moves by the downtime that followed the last sign of life.
package presence
