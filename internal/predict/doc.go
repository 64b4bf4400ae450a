// Package predict finds machines that are about to fail.
//
// Detector is the core: it knows nothing of refrigeration and judges the
// channels of any machine. Its statistic is a t value of the mean over a window
// against what healthy windows showed, with two additions. The scale contains a
// share of the plain scatter of a sample, so that a shift must be large as well
// as certain. And the degrees of freedom are the independent samples behind the
// baseline, that is samples divided by their integrated autocorrelation time: a
// channel that wandered slowly through its learning has shown few independent
// values, its range is not known yet, and it is believed accordingly little. No
// channel is named, weighted or left out by hand.
//
// While a machine is healthy its baseline follows it slowly and the knowledge of
// it grows; while a channel is suspicious nothing is learnt from it. An alarm
// ends when the channels that raised it are back.
//
// State is the predictor of a refrigerated unit on the same ground:
//
//   - operation.go reads what the unit does (level.go: on or off) and learns what
//     its runs are like; readings of steady running are gathered into hours
//     (window.go);
//   - the hours of a unit are regressed on ambient, zone and supply, with a prior
//     for its kind (regress.go, prior.go), and their residuals judged in windows of
//     six hours (device.go): large, certain and lasting;
//   - what departs is matched with the signatures of faults (fault.go), and what
//     cannot wait for a window is seen by single readings, runs without result and
//     failed starts (quick.go);
//   - alarm.go opens, follows and ends the one alert of a unit, history.go gives it
//     a lead time by a robust trend or none, text.go its evidence, report.go tells
//     people what is known meanwhile.
//
// Nothing in it depends on the passing of time without readings, so there is no
// deadline to keep. What spans devices, such as a voltage dip of a whole site, is
// not seen here but by the covariates: ambient and supply are taken out of every
// channel.
//
// The package is pure: no clock, no randomness, the same input gives the same
// verdicts.
package predict
