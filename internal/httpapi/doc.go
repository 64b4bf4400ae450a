// Package httpapi is the frame of the REST API: it takes requests to routes past
// the checks that all of them share, describes the routes, and serves what
// watches the service (/healthz, /readyz, /metrics). The parts that the API is
// made of are packages beside it: the resources in v1, those about who is notified
// in notifications and those that inspectors ask for in records, people in
// accounts, the reception of readings in submit, sources and what they send in inlets,
// a workspace as one file in export, browsers that want messages in push, the keys
// pressed on a call in voice, and the API as tools for assistants in mcp.
//
// # One table
//
// Every route is a row with its method, path, access, body and description. The
// router, the checks, the OpenAPI document and the tests of authentication are
// made from it. Handlers take checked input and return data or an error; StatusOf
// turns an error's code into a status; package inlets has another table for senders.
//
// # The order of checks
//
// The contract fixes it: route, method, authentication, scope, rate, content
// type, size, JSON, fields, existence. admit does all of them but the last, for
// every route alike, before a handler runs:
//
//   - the body is read whole, under a limit that holds after decompression and
//     under a minimal rate (pacedReader);
//   - checker walks the body once: it takes strict JSON only (package wire says
//     why) and holds it, as it holds the parameters, against the schemas that
//     describe them, so that the description cannot differ from what is enforced.
//     What a path names is looked up instead: what cannot be one does not exist.
//     The validator of huma, which makes schemas from types, takes mis-cased keys and
//     lets null through.
//
// Only then parameters and body are put into the handler's input type (bind.go).
//
// # Direct routes
//
// POST /v1/readings and its batch go past the router: their handlers do
// the checks themselves.
//
// # Answers
//
// An answer that fails after a part of it is out ends with a broken connection:
// there is no other way to say that the rest is missing.
package httpapi
