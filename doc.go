// Package rimewatch holds the words of commercial refrigeration monitoring:
// workspaces, devices, equipment types, readings, limits, alerts, policies and
// tokens, with the rules that belong to the words themselves. It is pure (only
// NewWebhookSecret draws something at random), has the standard library alone beneath
// it and knows nothing of stores or HTTP.
//
// Units everywhere: °C, %RH, V RMS, A RMS, mm/s RMS, and Time in milliseconds.
package rimewatch
