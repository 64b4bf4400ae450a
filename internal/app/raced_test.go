//go:build race

package app_test

import "time"

// mostWork is what a hostile body may take of a processor, which the race detector
// multiplies.
const mostWork = 2 * time.Second
