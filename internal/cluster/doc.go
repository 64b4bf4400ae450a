// Package cluster has the nodes of a cluster share out the shards of one database
// among themselves, and brings each request to the node that serves its shard.
//
// The database decides. A node takes a shard by closing the stream of whoever had it
// (package postgres): from then on the old owner writes nothing, whatever it
// believes. So suspicion is harmless and may be quick: a node whose connection
// breaks and who refuses the next one is taken for dead at once, one that is silent
// after store.GoneAfter. Who takes what follows from the list of members alone
// (plan), so that nobody has to be asked.
//
// A shard that is given away in order is first read by its successor, while it is still
// served: when its owner lets go, only what came meanwhile is left to be read. What
// else changed meanwhile (Service.Moved) has the successor open it like any other.
//
// A request for a shard of another node is passed on to it (Node.ServeHTTP), a plain POST of
// a reading over a connection that is kept for that (Node.Post). Answers name
// the node that serves the shard (NodeHeader), so that a balancer learns where to send the
// next one, and few requests are passed on.
//
// A node that could not say for freshFor that it is there serves nothing, although
// it may still own its shards: what others have stored since, it does not know.
package cluster
