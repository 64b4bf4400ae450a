// Package v1 is version 1 of the REST API: its resources, each with its routes
// and handlers, in the frame of package httpapi.
//
// A resource is a type around core, which holds what all of them need. Its file
// has the shapes of bodies and parameters that only it uses, the handlers, and
// its rows of the route table; the shapes of answers that the stream and
// messages share are in package wire.
package v1
