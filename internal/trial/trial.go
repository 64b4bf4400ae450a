// Package trial decides how much a run of the tests tries, and what it draws.
//
// Random draws begin with the value of -rapid.seed, or with RAPID_SEED of the
// environment, as `make explore` has it; without them with 1, so that a run repeats the
// one before. A test that uses rapid imports this package for that alone.
package trial

import (
	"flag"
	"os"
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

// level is how much is tried: "" takes seconds and needs nothing but Go; "all", of `make
// test`, also what needs other programs or minutes; "long", of `make test-long`, everything;
// "faults", of `make faults`, at the length of that command.
var level = os.Getenv("RIMEWATCH_TESTS")

// All reports whether tests run that need PostgreSQL, Mosquitto or minutes.
func All() bool { return level == "all" || Long() }

// Long reports whether tests run in full, however long that takes.
func Long() bool { return level == "long" || Faults() }

// Faults reports whether faults are planted at the length of `make faults`.
func Faults() bool { return level == "faults" }

// NeedsAll skips a test unless All.
func NeedsAll(tb testing.TB) {
	tb.Helper()
	if !All() {
		tb.Skip("left to make test")
	}
}

// NeedsLong skips a test unless Long.
func NeedsLong(tb testing.TB) {
	tb.Helper()
	if !Long() {
		tb.Skip("left to make test-long")
	}
}
