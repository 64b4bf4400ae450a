// Package ingest is the one write path: requests wait in a bounded queue, one
// goroutine takes what waits, asks the store what of it is new, steps the
// engine of every device concerned, and commits inputs and meaning together.
// Only then is anybody told: first the hub, then the caller.
//
// # What is kept in memory
//
// Every device has a unit: its configuration and the engine's state. A group is
// evaluated on copies that replace the units after the commit, so a commit that
// fails (a full disk) costs nothing but the group. Checkpoints of changed units
// are written in slices; after a restart the checkpoint and the log behind it
// give the same units again, because the engine is deterministic and the log
// holds every input with the commit's time: readings, heartbeats, ticks of the
// clock, edits of devices, resolutions by people.
//
// # Time
//
// Deadlines (silence, delays, clear times) sit in a wheel. A deadline that
// passes becomes an input like any other. While the service is down nobody is
// heard; that span is recorded and every deadline moves by it.
package ingest
