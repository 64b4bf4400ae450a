// Package e2e tests the real program, built with the race detector: what people
// and scripts do with it, in testdata/script, and what happens when it is
// killed, in TestKill9.
//
// RIMEWATCH_E2E_BINARY names a program to test instead of building one.
package e2e
