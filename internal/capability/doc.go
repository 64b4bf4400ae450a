// Package capability learns whether a unit gets cold when it is told to: at which zone
// temperature its runs usually begin and end, and how long it is beyond that without
// running, or runs without getting colder. State.Observe takes what package unit has made
// of a reading. It is pure: no clock, no randomness.
//
//   - usual.go learns the unit's usual start and stop, from its compressor, or from the
//     turning points of the zone where nothing shows that;
//   - excuse.go learns for how long it stands beyond that start by itself, as in its
//     defrosts, and how soon it does again;
//   - capability.go keeps the clocks of demand without cooling and says when they have
//     run out, why, and when the unit has shown that it cools.
//
// The numbers are those of a study on simulated units of foreign equations and on
// recordings, but for those of excuse.go, which were tuned on both families of lab/evaluate.
// The usual of the moment in which demand was not met is kept until the unit has shown
// that it cools: a dead compressor is never the usual.
package capability
