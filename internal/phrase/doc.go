// Package phrase writes what people read about alerts and predictions. An alert
// carries facts (type, metric, value, limit, times, fault); the sentences are
// made from them when somebody reads the alert: in an answer of the API, on the
// stream, in a message. None is stored with an alert; a message that is to be sent is
// kept as it was written, since its receiver may be given it again.
//
// The English texts are here, keyed by alert type, by metric where one type has
// two, and by fault; package catalogue has those of every other language. In(locale)
// returns the words for one reader: language, °C or °F, clock and order of dates.
//
// Titles stand alone: they are read beside the name of the unit, below it, or in
// a list without it, so they never contain it.
package phrase
