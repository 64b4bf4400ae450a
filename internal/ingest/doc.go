// Package ingest is the one write path: requests wait in a bounded queue, one
// goroutine gathers them into a group, asks the store which inputs are new, steps the engine of
// every device concerned, and has another goroutine commit inputs and effects together while it
// evaluates the next group (one that must be alone it commits itself). The devices of a large batch are
// stepped side by side, each up to the first input with an outcome for the outside; from there on
// the one goroutine goes on, in order. Publisher and caller learn of it only after the commit, in
// that order.
//
// # Memory
//
// The states of all devices are a fleet's (package fleet); the sums that readers see are in known.
// A group is evaluated on the states in place, upon all groups before it. When a commit fails (a full disk), its group and the one evaluated upon it are
// rolled back, and nothing is evaluated before the store takes writes again. Checkpoints
// are copied between two groups, when all that was evaluated is durable, and
// written in parallel. After a start in a large fleet, units catch up with the log while
// groups come: until all have (Loading), nothing that spans devices is judged.
// To read the code, begin at recovery.recover.
//
// Groups of readings and heartbeats overlap. A group with anything else in it is alone: it depends
// on the effects of those before it, or changes which device a reading belongs to.
//
// # Its files, from below
//
//	base, unit, presence, settings, request    configuration, and the words
//	known, inbox                               sums that readers see; the queue of requests
//	group, timeline, site, rejudging, contributions
//	                                           a group on its way; memory between groups
//	evaluator, transition, caught_up, config, ahead, apply_*, evaluate
//	                                           the effects of a group; never waits, commits nothing
//	writer, watch, clock, fetch, rollback, settle, replay, recover
//	                                           the loop, which gathers, commits and rolls back
//	service, and the rest                      methods for other packages
//
// # Time
//
// Deadlines (silence, delays, clear times) sit in a heap. A deadline that
// passes becomes an input like any other. While the service is down, its store takes no
// writes or its process stands still, it hears no device; that span is recorded, before
// anything after it is evaluated, and every deadline moves by it.
//
// # Sites
//
// Package outage judges outages and common causes after the commits that changed devices, from
// the devices' presence and the stored alerts alone: at least three devices, and at
// least half of those that were online, that go offline within two minutes are
// one site_offline. Everything that follows (which devices' alerts it inhibits,
// when it is over, which of them are released) is worked out again each time, in
// slices of devices, so that a crash between two slices needs no repair.
//
// # Late readings
//
// Temperatures are judged in the order of readings. A device whose readings came late is judged
// again from the store, in parallel to the writer; the conclusion is an input like any other,
// committed with its changes of the recorded excursions.
//
// # Settings
//
// Limits of workspaces and maintenance windows are rows of the store. They reach
// the units as logged changes of configuration, in slices, whenever a unit differs from the rows:
// after a change, a restart, or another process's change.
package ingest
