// Package rimewatch defines the words of commercial refrigeration monitoring:
// workspaces, devices, equipment types, readings, limits, alerts, policies and
// tokens, with the rules that belong to the words themselves. It is pure: the standard
// library alone is beneath it, and it knows nothing of stores, HTTP, clocks or chance.
//
// Units everywhere: °C, %RH, V RMS, A RMS, mm/s RMS, and Time in milliseconds.
package rimewatch
