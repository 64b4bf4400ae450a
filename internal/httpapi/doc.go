// Package httpapi is the REST API: /api/v1 with its description and docs page,
// and what watches the service (/healthz, /readyz, /metrics).
//
// # One table
//
// table gives every route with its method, path, access, body and description.
// The router, the checks, the OpenAPI document and the tests of authentication
// are made from it. Handlers take checked input and return data or an error;
// statusOf is the one place that turns an error's code into a status.
//
// # The order of checks
//
// The contract fixes it: route, method, authentication, scope, rate, content
// type, size, JSON, fields, existence. admit does all of them but the last, for
// every route alike, before a handler runs:
//
//   - the body is read whole, under a limit that holds after decompression and
//     under a minimal rate (pacedReader);
//   - checkJSON accepts strict JSON only: no duplicate keys, no bad UTF-8, no
//     trailing bytes, at most 32 levels. encoding/json would take all of those
//     and let a request mean something else than it says;
//   - checker holds parameters and body against the schemas that describe them,
//     so that the description cannot differ from what is enforced. huma's own
//     validator takes mis-cased keys and lets null through, hence this one.
//
// Only then huma binds parameters and body to the handler's input type; it never
// has a reason to answer by itself.
//
// # The hot path
//
// POST /v1/readings and its batch go past the router and huma. Ingest, which
// does the work, knows nothing of net/http, so that a leaner listener can use
// it. fastReading decodes the shape that devices send, in about a quarter of a
// microsecond and without an allocation; whatever it does not recognise goes to
// strictReading, which judges. A fuzz test holds the two together: what the fast
// one takes, the strict one takes with the same result. The rate of single
// readings is limited per device, so it is checked once the device is known.
//
// # Answers
//
// Readings are encoded by hand (appendReading), as numbers must come back as
// they were sent and the newest of 100,000 devices are streamed. Everything else
// goes through encoding/json. An answer that fails after a part of it is out
// ends with a broken connection: there is no other way to say that the rest is
// missing.
package httpapi
