//go:build !race

package app_test

import "time"

// mostWork is what a hostile body may take of a processor.
const mostWork = 100 * time.Millisecond
