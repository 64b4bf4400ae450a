// Package evaluate measures the engine, as the service runs it, on units whose state
// is known: simulated ones with and without faults (simulator), those as they are found
// in the field (dirty), the same with bad input (spoilt), those of two families of
// equations side by side (families), and recordings of real ones (device, real).
//
// Readings are judged row by row: what is concluded never depends on later rows. Labels
// are read for scoring alone. Reports print what was aimed at beside what was reached.
package evaluate
