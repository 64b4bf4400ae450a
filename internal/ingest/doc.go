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
// The states of all devices are a fleet's (package fleet), and what follows from them for
// readers is in known. A group is evaluated on the states in place, upon all groups before
// it. When a commit fails (a full disk), its group and the one evaluated upon it are
// rolled back, and nothing is evaluated before the store takes writes again. Checkpoints
// are copied between two groups, when all that was evaluated is durable, and
// written beside. After a start in a large fleet, units catch up with the log while
// groups come: until all have (Loading), nothing that spans devices is judged.
// To read the code, begin at recovery.recover.
//
// Groups of readings and heartbeats overlap. A group with anything else in it is
// alone: it looks at how things stand, or changes who a reading belongs to.
//
// # Its files, from below
//
//	base, unit, presence, settings, request    what all are given, and the words
//	known, inbox                               what readers see; where requests wait
//	group, timeline, site, shares, rejudging   a group on its way; what is kept between groups
//	evaluator, transition, arrive, config, ahead, apply_*, evaluate
//	                                           what a group means; it waits for nobody and commits nothing
//	writer, watch, clock, fetch, lost, settle, stragglers, recover
//	                                           the loop, which gathers, commits and takes back
//	service, and the rest                      what others call
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
// Package outage judges what spans devices after the commits that changed them, from
// the devices' presence and the stored alerts alone: at least three devices, and at
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
