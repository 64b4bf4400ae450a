// Package alert is the rule engine: it turns the readings, the presence and the
// clock of one device into transitions of alerts. It is pure. A State is a
// value that the caller copies, advances with Observe, Tick and Resolved, and
// keeps once the commit that carries the transitions is durable. Equal calls in
// equal order give equal states.
//
// # How the clocks run
//
// A condition (say, the product zone above its limit) begins with the first
// reading beyond the limit and ends with the first that is not. When it has
// lasted its delay, an alert opens; when the value has been past its clear
// value (the limit less clear_delta) for its clear time, the alert resolves.
// There is one active alert per type, and its severity moves. Every reading is
// judged at its event time; beside that the delays complete by timer: Deadline
// tells when Tick must be called. A call of Tick with every heartbeat is cheap
// and welcome but not needed.
//
//   - A delay or clear time completes by timer only while the device is online
//     and only on a value that was recent when it arrived. After a silence the
//     timers give the device a third of its offline time for a first reading.
//   - A reading not newer than the newest seen is late: it proves the device
//     alive and does nothing else. A reading from the near future is judged at
//     its arrival.
//   - A backlog moves the clocks in event time. It opens or escalates only by
//     its last reading and only if that is younger than the offline time; hand
//     readings that arrive together to ObserveAll.
//   - An absent or implausible measurement is no evidence: what runs, runs on.
//   - A person who resolves an alert whose condition holds is respected for
//     30 min, or 5 min where it is critical.
//   - An alert that opens for the fourth time, each time within 2 h of its last
//     end, is latched as flapping: it resolves only after an hour past its
//     clear value, and counts occurrences meanwhile.
//
// # The rules
//
//	type             condition                    warning after   critical                         resolves after
//	high_temperature zone > temp_max              delay_s         > critical_max critical_delay_s;  clear_s at ≤ temp_max − clear_delta
//	                                                              2 h outside for TCS food
//	low_temperature  zone < temp_min              low_delay_s     < critical_min, min(critical_     clear_s at ≥ temp_min + clear_delta
//	                                                              delay_s, low_delay_s, 10 min);
//	                                                              2 h outside for TCS food
//	device_offline   no sign of life for          at once         max(1 h, 4 × offline_after)       a sign of life
//	                 offline_after, neither
//	                 announced nor never seen
//
// Sources: FDA Food Code 3-501.16 and 3-501.19 (5 °C, half of the four hours
// without temperature control), CDC vaccine storage (0 °C, minutes), trade
// practice for the delays; the catalogue in the root package names them.
package alert
