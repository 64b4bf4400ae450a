// Package inlet turns payloads of other people's devices and gateways into
// readings. It is pure: a payload, a template and bindings in; readings out,
// each field with the expression that it came from and why it is absent.
//
// # Templates
//
// A Template is a JSON document whose members are expressions over the payload
// (language: github.com/expr-lang/expr). They select and calculate; they cannot
// loop, build large texts or reach anything but the payload, and their size is
// bounded, so that a template of a stranger costs a few microseconds.
//
// Senders name the same thing in many ways, so a template may leave it to Auto:
// an object whose members are recognised. All ways in do that alike, in four steps: the
// unit of a value says what it is (leaf.go, recognise.go), its name in whole words which
// (words.go), everything that tells it from its neighbours whose it is (senses.items), and
// a time that cannot be is none. Lines are read in the same way once a series.
//
// # Senders and their sensors
//
// A board with several temperatures is as many senders: Item.Part is added to its name. One
// with a single temperature is the sender itself, and Reading.Probe says which sensor that
// was, so that a binding stays with it when others come, or when it moves.
//
// # Bindings
//
// A Binding ties a sender's name to a device's serial, and may say
// which value is which measurement. Several bindings of one sender are several
// devices, such as the probes of one logger.
package inlet
