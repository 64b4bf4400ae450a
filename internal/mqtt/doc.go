// Package mqtt takes readings in over MQTT 3.1, 3.1.1 and 5: a Listener that
// devices connect to, and Brokers, which connect to the brokers of sources. A broker
// that asks for it also gets the units of the workspace for Home Assistant (home.go):
// every unit, its newest values and its alerts, as the store has them, every few seconds.
//
// Both acknowledge a message (PUBACK, PUBREC) only after source.Service has
// stored what it means. What cannot be stored now is not acknowledged: the
// connection ends and the other side sends it again. What never could be stored
// is acknowledged and counted, because it would be sent again for ever.
//
// The Listener only takes in. A subscription to a plain topic is granted, since
// much firmware stops without, but nothing is ever delivered; wills and the
// retain flag have no effect.
//
// Packets are coded by mochi-mqtt's codec. It panics at some truncated packets,
// so decode recovers.
package mqtt
