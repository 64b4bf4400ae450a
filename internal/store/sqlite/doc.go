// Package sqlite is the embedded store: one SQLite file, through modernc's
// engine and zombiezen.com/go/sqlite, without cgo.
//
// # Readings are a log and chunks
//
// A commit is one row of commit_log: the packed inputs of everybody who waited,
// one sync for all of them. The readings of a commit also go, as the same
// bytes, into the in-memory head of each device, which answers what is newest
// and settles duplicates. In the background the sealer turns heads into chunks
// (package chunk), in slices of a few devices: it encodes outside every lock,
// writes the chunks and the device's seal mark in one short transaction and
// then takes the rows out of the head. Small chunks are merged to one a day.
// Log rows go when everything in them is sealed and no device needs them to
// rebuild its streaming state (SaveCheckpoints).
//
// # Recovery
//
// SQLite is the only thing that has to be crash-safe. At the start the log is
// replayed into the heads; a row whose device has a seal mark at or after its
// commit is in a chunk already. Whatever the moment of a crash, a reading is
// therefore in exactly one of the two places.
//
// # Locks
//
// maintMu (background work), then writeMu (the writer connection), then mu (the
// fleet in memory). Readers take mu for slices of a millisecond and a pooled
// connection for chunks and alerts. The head is copied before the chunks are
// read: what is sealed in between is seen twice and merged, never missed.
//
// # The write-ahead log
//
// synchronous=FULL syncs it at every commit. It is copied into the file by the
// background worker, never inside a commit, and restarted when it has grown.
package sqlite
