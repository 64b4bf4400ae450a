// Package sqlite is the embedded store: one SQLite file, through modernc's
// engine and zombiezen.com/go/sqlite, without cgo. It brings package core a Disk
// and package tables a database; this package has files, connections, segments
// and the schema.
//
// # Connections
//
// One writer, whose transactions are immediate; a pool for history and lists; a
// small pool for the reads of every request, which waits for neither; one for the
// write path, which looks for late readings in chunks; one for the background.
//
// # The write-ahead log
//
// synchronous=FULL syncs it at every commit. It is copied into the file by the
// background worker, never inside a commit, and restarted when it has grown.
package sqlite
