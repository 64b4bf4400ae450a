// Package plot draws time series as small SVG pictures: panels one above the
// other over one time axis, for documents and for looking at simulated units.
//
// A picture needs no script, font or style sheet. A line is thinned to the
// lowest and highest value of each pixel column, so that spikes survive and a
// month of minutes stays small.
package plot
