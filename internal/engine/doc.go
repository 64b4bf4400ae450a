// Package engine is what the service makes of one device: presence, rules,
// compliance, health and predictions as one deterministic step, (state, input, now) →
// (state', transitions). It is pure. The same inputs in the same order give the
// same state, which is what recovery after a restart rests on.
package engine
