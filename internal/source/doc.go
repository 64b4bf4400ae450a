// Package source takes in what comes from sources: it finds the source of a key,
// maps payloads (package inlet), gives readings to the one write path, and keeps
// what cannot be mapped or has no device until somebody binds it.
//
// A call returns only after everything that it reports is durable: readings are
// committed, and what waits is on stable storage. So whoever acknowledges after
// the return never loses anything, and a sender that tries again does no harm:
// readings with a time of their own are stored once.
//
// What waits is replayed with its own times, or, where it has none, with the
// time at which it came, so that a replay that was interrupted can be repeated.
package source
