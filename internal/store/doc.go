// Package store is the contract of a durable store: what ingest, accounts and
// the API ask of it, in words that an embedded and a scale-out engine can both
// keep. storetest is the same contract as an executable suite; behaviour that is not in
// the suite is not promised.
//
// # The write path
//
// Ingest hands over a Group: everything that waited to be written. Stage settles
// questions that only the store can answer (is this reading new? is this serial free? when,
// for a reading without a time?). Ingest then works out what the accepted inputs
// mean (alerts, live state), and Commit writes inputs and meaning in one
// transaction. When it returns nil, both are on stable storage; when it returns
// an error, nothing of the group is.
//
// A group may be staged while the one before is being committed. Log.Stage says
// what holds then.
//
// The inputs of every commit also form a log. Recover hands out the newest
// checkpoint of each device's streaming state and every logged input after it,
// in order and with the commit's time, so that the deterministic engine arrives
// at the same state again. A store may drop logged inputs once SaveCheckpoints
// has said that no device needs them any more.
//
// # Rules for every engine
//
// Missing things are rimewatch.Error with a not-found code, never a nil with a nil
// error. Look-ups in memory that cannot fail (Identify, Identity, DeviceByID)
// has no error at all, and returns nil or false. Text compares by bytes, serials without case. Times are integer
// milliseconds.
//
// A call that lists or changes things of a workspace names the workspace, and sees no other.
// Calls that reach across workspaces are named All… and are in Everywhere.
// Workspaces, people and sessions belong to the whole store; who may ask for them
// is decided above. What is unique everywhere needs no workspace: a secret whose hash
// finds its source, token or session (SourceByKey, TokenByHash), and the id of a device,
// by which history, DeviceByID and Identity are asked: whoever asks has found the id in a
// workspace, or checks what comes back. DeleteExpired clears up the whole store.
package store
