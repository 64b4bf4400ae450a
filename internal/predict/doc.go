// Package predict finds refrigerated units that are about to fail, by what
// package unit has learnt of them:
//
//   - alarm.go judges at the end of every six hours which measures depart from the
//     unit's baseline: large, certain and lasting; it opens, follows and ends the
//     one alert of a unit;
//   - what departs is matched with the signatures of faults (fault.go), and what
//     cannot wait for six hours is seen by single readings, runs without result and
//     failed starts (quick.go);
//   - history.go gives it a lead time by a robust trend or none, text.go its
//     evidence, report.go describes the result so far.
//
// Nothing in it depends on the passing of time without readings, so there is no
// deadline to keep. What spans devices, such as a voltage dip of a whole site, is
// not seen here but by the covariates: ambient and supply are taken out of every
// channel.
//
// The package is pure: no clock, no randomness, the same input gives the same
// verdicts.
package predict
