// Package inlets is the HTTP of sources: their management in the REST API, and
// the paths that other people's devices and gateways send to: /in/{key} takes
// any payload, /api/v2/write and /write take Influx line protocol.
//
// The senders' paths are not part of the described API: their clients expect the
// answers of the protocol that they speak.
package inlets
