// Package health says how well a device and a fleet do: temperature compliance,
// excursions, the health score of a device with its drivers, and the score of a
// workspace. It is pure: readings, severities and moments in, values out.
//
// # Compliance
//
// The compliance of a device is the share of its covered time of the last 24 h
// in which the product zone was within limits. A reading stands for the time
// until the next one, but for at most twice the usual gap between readings
// (learnt, a slow mean) and for at most Config.MaxHold, two hours, so that a
// logger that reports once an hour covers its time: beyond that the time is not
// covered and counts nowhere. So it is with time inside Config.Excluded
// (maintenance): readings there are not judged, and what ran before is over.
//
// Strict compliance takes every reading as it is. Compliance proper forgives
// time out of limits until it has lasted the alarm delay (high and low side
// have their own), as defrosts and loading do; when it has, all of it counts as
// out from its beginning, in retrospect too. The first reading inside ends what
// has not lasted that long. What has is an excursion: it ends when the zone has
// been inside by ClearDelta for ClearS, and dates its end to when that began;
// until then every reading out of limits counts as out. Silence ends nothing.
//
// Forgiveness has an end. Of the short runs that began on a local day (Days.Zone), those that
// are no recognised defrost may take one delay of their side, and all together Days.Grace and
// one delay. Above either all of them count, in retrospect too, and are one excursion with
// their sum, which is over with the first reading of a later day. Days that began before
// Days.Since forgive all short runs.
//
// The window is 48 half hours, aligned to UTC, and the one that runs: it slides
// in steps of half an hour and covers 24 to 24.5 h. The running half hour is
// exact to the millisecond; past ones are kept in units of 2 s, and what is left
// of a unit carries over, so that the sums are off by less than 2 s, and by 2 s
// more for each excursion that came to count in retrospect.
//
// Late readings, those older than the newest and those of a file, change nothing by themselves: Late says which
// they are. The caller, who keeps readings, judges the device again from them, in their order, with
// a State of its own, which begins where Calm says that nothing ran; Rejudged is what is
// known then. What is known does not depend on the order of arrival, but for the usual
// gap between readings, of which the newest 64 before the window tell enough.
//
// # Scores
//
// A device's score is 100 · Π(1 − w_k·s_k) over the components of Component,
// with s_k from 0 (normal) by 0.5 (warning) to 1 (critical): the worst of the
// last 24 h, decayed with a half-life of 12 h, or what holds now. Open alerts and
// silence cap it. The points lost are split over the components in proportion
// to −ln(1 − w_k·s_k), which is what a product allows, so the drivers add up.
//
// The score of a workspace is 0.7 × the mean + 0.3 × the mean of the worst tenth
// of its devices (a tenth rounded down, at least one device). Devices that were
// never heard of are left out. Closing an alert can only raise it.
package health
