// Package wire defines the public shapes of the API and
// their JSON, without any HTTP. The REST API, the stream and the notifications
// share it, so that a thing looks the same wherever it is sent.
//
// # Readings
//
// Bodies are strict JSON: no duplicate keys, no bad UTF-8, no trailing bytes, at
// most 64 levels. encoding/json would take all of those and let a request mean
// something other than it says.
//
// What devices send beside that is taken as it is meant (lenient.go): foreign members
// are left out and named, numbers may be text, the time may have another name or be an
// age. A name that is nearly one of ours is refused, since it is a mistake.
//
// fastReading decodes the shape that devices send, in 0.4 microseconds and without an
// allocation; whatever it does not recognise goes to
// strictReading, which decides, in one walk by the Scanner. A fuzz test holds
// the two together: what the fast one takes, the strict one takes with the same
// result. So a body is walked twice at most.
//
// Readings are encoded by hand (AppendReading), as numbers must come back as
// they were sent and the newest of 100,000 devices are streamed. Everything else
// goes through encoding/json (AppendJSON).
package wire
