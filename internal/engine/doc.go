// Package engine judges one device: presence, rules, compliance, health and predictions as
// one deterministic step, (state, input, now) → (state', transitions). It is pure. The same
// inputs in the same order give the same state; recovery after a restart relies on that.
package engine
