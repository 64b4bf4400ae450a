// Package draw has tests draw the same whenever they are run. What a test draws at
// random begins with the value of -rapid.seed, or with RAPID_SEED of the environment,
// as `make explore` has it; without them with 1. A test that uses rapid imports this
// package for that alone.
package draw

import (
	"flag"
	"strconv"
	"testing"

	_ "pgregory.net/rapid" // has the flag
)

var seed = fixed()

// fixed is the flag of rapid, whose 0 would be another seed at each run.
func fixed() flag.Value {
	v := flag.Lookup("rapid.seed").Value
	if v.String() == "0" {
		_ = v.Set("1") // a number
	}
	return v
}

// Seed is what a test that draws without rapid begins with.
func Seed(tb testing.TB) uint64 {
	tb.Helper()
	n, err := strconv.ParseUint(seed.String(), 10, 64)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Logf("-rapid.seed=%d", n)
	return n
}
