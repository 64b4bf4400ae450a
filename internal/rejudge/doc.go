// Package rejudge judges a device with late readings again: its stored readings, in
// their order, by what judges those that come in order, and the limits of their time. It
// says what is known of the device's temperatures then, and what that changes of the
// recorded excursions. It reads, and writes nothing.
package rejudge
