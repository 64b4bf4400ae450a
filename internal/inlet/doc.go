// Package inlet turns what other people's devices and gateways send into
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
// an object whose members are recognised by their names. What is ambiguous is
// left out and listed; a binding decides.
//
// # Bindings
//
// A Binding ties what a sender calls itself to a device's serial, and may say
// which value is which measurement. Several bindings of one sender are several
// devices, such as the probes of one logger.
package inlet
