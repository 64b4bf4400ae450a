// Package unit learns what a refrigeration unit does, once for the rules and the
// predictor: State.Observe turns each reading into an Observation, and the State holds
// the unit's baseline. It is pure: no clock, no randomness, equal arguments in equal
// order make equal states.
//
//   - sensor.go decides which measurements count: sentinels, implausible values, a
//     frozen zone sensor and values that contradict each other do not. probe.go detects
//     probes that tremble, were moved or report °F, mixup.go swapped probes, aside.go
//     channels that depart alone, still.go constant values, missing.go measurements that
//     are no longer sent;
//   - running.go decides whether the compressor runs: by its own flag, else the
//     current between two learnt levels, else vibration, else the discharge line
//     above ambient. A failed start is a current above 2.5 times the running level
//     that no run follows; one that lasts is another load, such as a heater;
//   - cycles.go counts starts, failed starts and run lengths. Starts need a reading a
//     minute, or the device's own counter;
//   - phase.go follows the thermostat: where runs usually begin and end, runs without
//     result, and whether the unit runs, rests, defrosts or recovers;
//   - hump.go follows the zone's rises out of its own band, kind.go learns the kinds
//     of them that come back, by their course and not by the hour: defrosts, by clock,
//     run time or demand. defrost.go adds what the device declares;
//   - door.go suspects an open door, supply.go learns the usual voltage and humidity;
//   - hour.go gathers steady running into hours, model.go regresses the hours on
//     ambient, zone and supply, with a prior for the kind of unit, and drift.go keeps
//     how far windows of six hours depart from that.
//
// A healthy unit's baseline follows it slowly. Departures above a floor are
// not learnt, nor is anything while an alert is open about the unit (Hold).
// Relearn forgets the baseline: after maintenance, a repair, or a wrong prediction.
package unit
