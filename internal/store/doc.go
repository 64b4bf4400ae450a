// Package store is the contract of a durable store: what ingest, accounts and
// the API ask of it, in words that an embedded and a scale-out engine can both
// keep. storetest is the same contract as an executable suite; what is not in
// the suite is not promised.
//
// # The write path
//
// Commit takes a Group: everything that waited to be written. The store first
// settles what only it can know (is this reading new? is this serial free?),
// then calls Group.Evaluate inside the transaction, which says what the inputs
// mean (alerts, live state), and commits inputs and meaning together. When
// Commit returns nil, the group is on stable storage; when it returns an error,
// nothing of it is.
//
// The inputs of every commit also form a log. Recover hands out the newest
// checkpoint of each device's streaming state and every logged input after it,
// in order and with the commit's time, so that the deterministic engine arrives
// at the same state again. A store may drop logged inputs once SaveCheckpoints
// has said that no device needs them any more.
//
// # Rules for every engine
//
// Missing things are rimewatch.Error with a not-found code, never a nil without
// an error. Text compares by bytes, serials without case. Times are integer
// milliseconds. Everything that is listed names its workspace: there is no
// call that reaches across.
package store
