// Package source receives the payloads of sources: it finds the source of a key, maps payloads
// (package inlet), passes readings to the one write path, and keeps payloads that cannot be
// mapped or have no device until somebody binds them.
//
// A call returns only after everything that it reports is durable: readings are
// committed, and what waits is on stable storage. So whoever acknowledges after
// the return never loses anything, and a sender that tries again does no harm:
// readings with a time of their own are stored once.
//
// What waits is replayed with its own times, or, where it has none, with the
// time at which it came, so that a replay that was interrupted can be repeated.
package source
