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
// The package is pure: no clock, no randomness, the same input gives the same
// verdicts.
package predict
