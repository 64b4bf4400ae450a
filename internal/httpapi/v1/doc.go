// Package v1 is version 1 of the REST API: its resources, each with its routes
// and handlers, in the frame of package httpapi.
//
// A resource is a type around core, which holds what all of them need. Its file
// has the shapes of bodies and parameters that only it uses, the handlers, and
// its rows of the route table; the shapes of answers that the stream and
// messages share are in package wire.
//
// POST /v1/readings and its batch go past the router and huma. Ingest, which does
// the work, knows nothing of net/http, so that a leaner listener can use it. The
// rate of single readings is limited per device, so it is checked once the device
// is known.
package v1
