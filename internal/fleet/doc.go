// Package fleet keeps the state of every device in memory. The write path has one: it
// stages the devices of a group, steps them, and commits the group or rolls it back.
// Nothing here runs by itself, waits, or decides about an alert. Everything that is fast and
// unusual about states is in this package.
//
// # Where a state is
//
// States are flat and without pointers, side by side in slabs, up to a budget. Beyond it
// the coldest are on the disk alone, in their checkpoints, and Stage or Load brings them
// back. The data that is asked of all devices at once (Seen) stays in memory.
//
// # Stage, Commit, Rollback
//
// A group is evaluated on the states in place, upon all groups before it; its other changes of
// a device (Facts) are in its Staged until Commit makes them the device's. When a
// commit of the store fails, its group and those evaluated upon it are rolled back: facts
// are put back, and Rebuild makes the states again from the durable log. No copy of a state is
// kept for that, since every reading would pay for it.
//
// # Save, Load
//
// Checkpoints of changed states are copied while everything in them is durable, and written in
// parallel to the writer. After a restart a checkpoint and the log behind it give
// the same state again, because Step is deterministic and the log holds every input with
// its commit's time. In a large fleet that takes longer than senders should wait: Recover
// reads the log and keeps the inputs of each device packed, until Stage needs the device
// or CatchUp has its turn. A device that has caught up is named by News.
//
// # Who may call
//
// One goroutine changes the fleet, and holds the lock while it does. Others read under it, by
// Look and Read, which lock themselves, or between RLock and RUnlock. Step may be called
// for several devices at once.
package fleet
