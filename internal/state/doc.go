// Package state has the numbers that a device's state is made of, and the codec of such
// states.
//
// A state is a flat value: numbers, truths, and arrays and structs of them, without a
// pointer. Format makes its codec from the type, field by field in their order, so that a
// new field is written and read without a line of code, and none can be forgotten. What a
// field needs beyond its type stands in its tag:
//
//	newest rimewatch.Time                   // a moment; 0 = none
//	lag    rimewatch.Time `state:"span"`    // a length of time
//	heard  Stamp          `state:"unmoved"` // a moment that Move leaves alone
//	tried  Fixed          `state:"since=14"` // 0 in a state of a version before
//	own    float64        `state:"-"` // derived: not written
//
// A change of order or of a type, and a field that goes, are another format: a higher
// version, and a higher oldest one. A new field with since is a higher version alone.
//
// Pure.
package state
