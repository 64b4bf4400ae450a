// Package alert is the rule engine: it turns what a unit has observed, the
// presence and the clock of one device into transitions of alerts. It is pure. A
// State is advanced in place with Arrived, Judge, Tick and Resolved; where the commit
// that carries the transitions fails, it is rebuilt from the store.
// Equal calls in equal order give equal states: a Tick is an input like a reading,
// and belongs in the log that is replayed after a restart.
//
// # How the clocks run
//
// A condition (say, the product zone above its limit) begins with the first
// reading beyond the limit and ends with the first that is not. When it has
// lasted its delay, an alert opens; when the value has been past its clear
// value (the limit less clear_delta) for its clear time, the alert resolves.
// There is one active alert per type, of sensors per measurement, and its severity moves. Every reading is
// judged at its event time; in addition, delays complete by timer: Deadline returns
// when Tick must be called. Calling Tick with every heartbeat is cheap but not
// necessary.
//
//   - A delay or clear time completes by timer only while the device is online
//     and only on a value that was recent when it arrived. After a silence, and
//     after a downtime of the service, the timers give the device a third of
//     its offline time for a first reading; once it has come, the warning of product
//     temperature waits for a second one where the delay is shorter than the usual
//     interval, for 10 min at most, longer on a device that measures every half
//     hour or more seldom (confirmed).
//   - A product temperature that the unit cannot have reached (package unit) is put aside:
//     it counts when two more confirm it, or by timer when no other has come for 10 min.
//   - Except for product temperature and presence, timers wait for the next reading
//     while it is not overdue: one odd sample is never an alert.
//   - In addition to the lasting condition, time beyond the limits of product temperature,
//     humidity and voltage adds up (exposure.go): over twice the delay, over four hours
//     for TCS food, over a day for medicine. It opens on a reading alone.
//   - A reading from the near future is judged at its arrival. One that is not newer
//     than the newest is late: it proves the device alive, may show that the present
//     excursion of the product temperature began earlier, and does nothing else.
//   - A backlog moves the clocks in event time. It opens or escalates only by
//     its last reading and only if that is younger than the offline time; hand
//     readings that arrive together over in order, and mark the last.
//   - Missing or implausible values are ignored; running timers continue.
//   - An alert that a person resolves while its condition lasts stays resolved for
//     30 min, or 5 min where it is critical.
//   - An alert that opens for the fourth time, each time within 6 h of its last
//     end, is latched as flapping: it resolves only after an hour past its
//     clear value, and counts occurrences meanwhile.
//
// # The rules
//
// The product temperature and device_offline are always judged; Config.Rules
// adds the groups. "Running" means warm running: from the fifth minute of a run
// on (from 60 % of the usual run of a unit with short runs), outside declared
// defrosts; the clocks of these rules stand still in between, so their delays
// count run time. "Own" is the unit's baseline at the same ambient temperature,
// zone temperature and supply, once two days of running are known; a deviation
// counts when two windows of six hours in a row agree on it. After maintenance, a
// reported repair or a false alarm the unit is learned again (Relearn): alerts that
// rest on the old baseline end as superseded. While a prediction is open, it
// inhibits warnings about deviations that stand in its evidence.
//
// Each rule's limits, delays and what ends it are its row of ruleSpecs and its section
// of docs/alerting.md, which a test holds against the rows.
//
// Sources: FDA Food Code 3-501.16 and 3-501.19 (5 °C, half of the four hours
// without temperature control), CDC vaccine storage (0 °C, minutes), the
// catalogue in the root package for the rest of the product temperature; for
// the others see ruleSpecs. Widened limits ("own … if more") are ours,
// from simulated fleets: an open case starts eight times an hour all its life,
// and a condenser outdoors has its winters and its damp nights. Until a place is
// known (two days), only air that is critical anywhere opens an alert; cold and damp
// air is a warning.
//
// The machine's behaviour (running, starts, defrosts, broken
// sensors, its baseline) is package unit's.
//
// # Memory
//
// A State is a flat value. Only rules that are not idle have a track, out of a
// pool in which product temperature and presence always find room; when ten
// other rules are busy, the next one waits.
package alert
