// Package postgres is the store for installations that outgrow one file: the same log,
// heads and chunks as the embedded one, in a PostgreSQL (15 or newer) that
// somebody runs anyway. It brings package core a Disk and package tables a
// database; this package has connections, the fence, unknown outcomes and the
// schema.
//
// Only unique keys, row locks and transactions are used: no NOTIFY, no advisory
// locks, no SKIP LOCKED, so that the statements mean the same in databases that
// are spread over several machines.
//
// # The fence
//
// A writer of a shard has opened a stream of it. Every transaction of a
// server begins with fence(shard, stream), which takes the shard's row FOR SHARE
// and fails when the stream is not open. A new owner of the shard locks the
// row, which waits for running writes, and opens a stream of its own: from then
// on the old owner writes nothing, whatever it believes. Beats only keep a second
// server from taking over by mistake.
//
// # A successor reads before
//
// Follow reads a shard that another node serves, and Take makes it this one's. A log
// that has grown is easily read to its new end. For everything else the owner counts
// what a follower would have to read again (core.Core.Moved): he names the number before
// the follower begins, and writes it down with the end of his stream. Where the two
// differ, or where he ended in another way, nothing is taken, and Open reads all.
//
// # One batch, one round trip
//
// Statements without a waiting caller are queued and sent with the next one
// that needs an answer, or with the commit (tables.Conn.Later). A commit of
// readings is a single batch: fence, row of the log, events. One with an alert or an excursion
// also asks for the cases that these may join. No transaction is open while Go thinks about a group.
//
// # Changes of tables take turns
//
// Package tables was written for one writer at a time. Its transactions, and the
// commits that write tables, therefore lock one row first (turn): ids grow in the
// order of commits, audit chains have one end, and the last owner stays. Commits
// of readings alone do not wait for it.
//
// # Unknown outcomes
//
// A connection that breaks during a commit leaves its outcome unknown. A row of
// the log is sent again until the database answers: its key (shard, stream, seq)
// makes one of the two win, and both are the same. A change of tables is looked
// up: it wrote a number, and the row that it locked shows when it has ended. A seal
// is recognised by its mark. What is found stored is followed by another small
// write before anybody gets an answer, because a cancelled wait for a synchronous standby
// leaves a commit that only the primary has.
package postgres
