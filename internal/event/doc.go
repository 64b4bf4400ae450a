// Package event defines the events that programs read. Whatever commits something writes its
// events in the same transaction; the stream, the feed of the API and webhooks read the same
// rows, so that each event has one id, one place in the order, and one form, wherever it is read.
//
// A Feed follows the rows as they are written and says whose they are. It is woken by commits,
// and looks once a second for what other processes have written.
package event
