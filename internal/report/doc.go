// Package report makes the reports for inspectors: the temperature log of a
// site's devices over a period, as CSV and as a PDF to print and sign. It is
// pure: what the store knows goes in, text and bytes come out.
//
// # Days
//
// A Log takes a device's readings in order and sums them up by days of a time
// zone; the day on which clocks change has 23 or 25 hours. As in compliance, a
// reading stands for the time until the next one, but for at most twice the
// usual gap and two hours: beyond that nothing is known, which shows as
// coverage. Means are weighted by that time. Time out of range is strict: no
// alarm delay is forgiven. Values that no probe can have measured are left out
// and counted. Where readings have expired, hours that were kept of them stand
// in: minimum, mean and maximum are exact then, and time out of range is only
// given for days whose hours were wholly inside or outside.
//
// # PDF
//
// The fonts are Go Regular and Go Bold, which cover Latin, Greek and Cyrillic.
// What they lack is shown as a box, never refused. Given the same Report, the
// bytes are the same.
package report
