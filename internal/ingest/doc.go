// Package ingest is the one write path: requests wait in a bounded queue, one
// goroutine takes what waits, asks the store what of it is new, steps the
// engine of every device concerned, and has inputs and meaning committed together
// by another, while it evaluates the next group (one that must be alone it commits itself). The devices of a large batch are
// stepped side by side, each up to the first input that says something to the
// outside; from there on the one goroutine goes on, in order. Hub and caller
// hear of it only after the commit, in that order.
//
// # What is kept in memory
//
// Every device has a unit: its configuration and the engine's state. States lie
// side by side in slabs, up to a budget; beyond it the coldest are only on
// disk, in their checkpoints.
//
// A group is evaluated on the states in place, upon all groups before it. When a
// commit fails (a full disk), its group and the one evaluated upon it are lost:
// facts are put back, states are built again from what is durable, and nothing is
// evaluated before the store takes writes again. Checkpoints of changed units
// are copied in slices, between two groups, when all that was evaluated is
// durable, and written beside; after a restart the checkpoint and the log behind it give the same
// units again, because the engine is deterministic and the log holds every input
// with the commit's time: readings, heartbeats, ticks of the clock, edits of
// devices, resolutions by people. In a large fleet that takes longer than senders
// should wait: the log is read, and what it says of each device is kept packed until
// a group needs the device, or until its turn comes between two groups. Until all
// have had theirs (Loading), nothing that spans devices is judged, and the log is kept
// whole. To read the code, begin at recovery.recover.
//
// Groups of readings and heartbeats overlap. A group with anything else in it is
// alone: it looks at how things stand, or changes who a reading belongs to.
//
// # Time
//
// Deadlines (silence, delays, clear times) sit in a heap. A deadline that
// passes becomes an input like any other. While the service is down, its store takes no
// writes or its process stands still, nobody is heard; that span is recorded, before
// anything after it is evaluated, and every deadline moves by it.
//
// # Sites
//
// What spans devices is judged after the commits that changed them, from the
// devices' presence and the stored alerts alone: at least three devices, and at
// least half of those that were online, that go offline within two minutes are
// one site_offline. Everything that follows (which devices' alerts it inhibits,
// when it is over, which of them are released) is worked out again each time, in
// slices of devices, so that a crash between two slices needs no repair.
//
// # Late readings
//
// What judges the temperatures takes readings in order. A device whose readings came late
// is judged again from the store, beside the writer, and what is known of it then is an input
// like any other, committed with what it changes of the recorded excursions.
//
// # Settings
//
// Limits of workspaces and maintenance windows are rows of the store. They reach
// the units as logged changes of configuration, in slices, whenever what a unit
// has is not what the rows say: after a change, a restart, or another process's
// change.
package ingest
