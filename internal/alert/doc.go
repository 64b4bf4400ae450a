// Package alert is the rule engine: it turns what a unit has observed, the
// presence and the clock of one device into transitions of alerts. It is pure. A
// State is a value that the caller copies, advances with Arrived, Judge, Tick and
// Resolved, and keeps once the commit that carries the transitions is durable.
// Equal calls in equal order give equal states: a Tick is an input like a reading,
// and belongs into the log that is replayed after a restart.
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
//     and only on a value that was recent when it arrived. After a silence, and
//     after a downtime of the service, the timers give the device a third of
//     its offline time for a first reading; once it has come, that of product
//     temperature needs no second one.
//   - Beside product temperature and presence, timers wait for the next reading
//     while it is not overdue: one odd sample is never an alert.
//   - A reading not newer than the newest seen is late: it proves the device
//     alive, and may show that the excursion of the product temperature that lasts
//     began earlier. It does nothing else. A reading from the near future is judged at
//     its arrival.
//   - A backlog moves the clocks in event time. It opens or escalates only by
//     its last reading and only if that is younger than the offline time; hand
//     readings that arrive together over in order, and mark the last.
//   - An absent or implausible measurement is no evidence: what runs, runs on.
//   - A person who resolves an alert whose condition holds is respected for
//     30 min, or 5 min where it is critical.
//   - An alert that opens for the fourth time, each time within 6 h of its last
//     end, is latched as flapping: it resolves only after an hour past its
//     clear value, and counts occurrences meanwhile.
//
// # What is judged
//
// The product temperature and device_offline are always judged; Config.Rules
// adds the groups. "Running" means warm running: from the fifth minute of a run
// on (from 60 % of the usual run of a unit with short runs), outside declared
// defrosts; the clocks of these rules stand still in between, so their delays
// count run time. "Own" is the unit's baseline at the same ambient temperature,
// zone temperature and supply, once two days of running are known; a deviation
// counts when two windows of six hours in a row agree on it. After maintenance, a
// reported repair or a false alarm the unit is learnt anew (Relearn): alerts that
// rest on the old baseline end as superseded. While a prediction is open, it
// inhibits warnings about deviations that stand in its evidence.
//
//	type                        warning                          critical                        resolves after
//	high_temperature            zone > temp_max, delay_s; kept   > critical_max,                 clear_s at ≤ temp_max − clear_delta
//	                            back in a recognised defrost     critical_delay_s, kept back
//	                            until a stated moment; declared  likewise where defrosts of the
//	                            ones: the type's longest, while  unit reach it; 2 h outside for
//	                            the unit's own are not known     TCS food                        a day at it where the zone is beyond
//	                                                                                             its limit more than half of a week
//	low_temperature             zone < temp_min, low_delay_s     < critical_min, the least of    clear_s at ≥ temp_min + clear_delta,
//	                                                             critical_delay_s, low_delay_s   outside recognised defrosts
//	                                                             and 10 min; 2 h for TCS food
//	device_offline              silent for offline_after, not    max(1 h, 4 × offline_after)     a sign of life
//	                            announced, once seen
//	sensor_stale                online, nothing measured (no     –                               a measurement
//	                            zone, if it ever sent one) for
//	                            15 min or five intervals
//	sensor_fault                sentinel, beyond reason, stuck   –                               5 min
//	                            zone, contradiction: 5 min
//	power_loss                  –                                V < 50 % of nominal, 10 s       1 min above 70 %
//	low_voltage                 < 90 %, 1 min                    < 85 %, 10 s                    5 min above 92 %
//	high_voltage                > 110 %, 1 min                   > 115 %, 10 s                   5 min below 108 %
//	high_discharge_temperature  > 107 °C (own + 6 K if more),
//	                            5 min running, or                > 121 °C, 1 min running, or     5 min running at ≤ 102 °C; 6 h for
//	                            own + 6 K                        own + 15 K                      deviations (≤ own + 4 K)
//	low_discharge_temperature   < ambient + 25 K, 10 min         < ambient + 15 K, 10 min        10 min
//	high_suction_temperature    > 18 °C (own + 5 K if more),     > 27 °C, 15 min, or own + 7 K   10 min; 6 h
//	                            15 min, or own + 3 K
//	low_suction_temperature     < zone − 5 K (freezer: − 2 K),   own − 7 K                       10 min; 6 h
//	                            10 min, or own − 3 K
//	high_amp_draw               > 110 % of rated, 10 min, or     > 125 %, 2 min                  5 min; 6 h
//	                            own + 12 % at a right voltage
//	low_amp_draw                < 25 % of own while vibrating,   –                               5 min
//	                            10 min
//	high_vibration              > max(1.8 mm/s, 2 × own),        > max(4.5 mm/s, 4 × own)        15 min running
//	                            15 min running
//	short_cycling               > 8 starts/h (1.5 × own if       > 12 starts/h, or run < 2 min   2 h
//	                            more), or median run < 3 min     (40 % of own if less)
//	                            (half of own if less), 15 min
//	compressor_start_failure    3 failed starts in 24 h          3 in this clock hour and last   1 h below
//	excessive_run_time          > 85 % of a day, or own + 20     > 97 % of 6 h and zone 2 K      a day
//	                            points                           above the type's setpoint
//	slow_recovery               twice own after a recognised     –                               8 h, so the next defrost
//	                            defrost, and longer than the
//	                            type's defrost and recovery
//	high_humidity               > 75 % at the condenser (own     > 90 % (own + twice that if     15 min
//	                            + 4 × its spread, 10 at least,   more), 2 h
//	                            if more), 2 h;
//	                            zone > 95 % (freezer: 92 %)
//	low_humidity                zone of a cooler < 55 %, 2 h     –                               15 min
//	high_ambient_temperature    > 35 °C (own + 3 × its spread,   > 43 °C                         15 min
//	                            5 K at least, if more), 30 min
//	low_ambient_temperature     < 10 °C (own − the same if       < 2 °C (own − twice that if     15 min
//	                            less), 30 min                    less)
//
// Sources: FDA Food Code 3-501.16 and 3-501.19 (5 °C, half of the four hours
// without temperature control), CDC vaccine storage (0 °C, minutes), the
// catalogue in the root package for the rest of the product temperature; for
// the others see ruleSpecs. Widened limits ("own … if more") are ours,
// from simulated fleets: an open case starts eight times an hour all its life,
// and a condenser outdoors has its winters and its damp nights. Until a place is
// known (two days), only air that is critical anywhere is told, cold and damp
// air as a warning.
//
// What is recognised and learnt of the machine (running, starts, defrosts, broken
// sensors, its baseline) is package unit's.
//
// # Memory
//
// A State is a flat value. Only rules that are not idle have a track, out of a
// pool in which product temperature and presence always find room; when eight
// other rules are busy, the next one waits.
package alert
