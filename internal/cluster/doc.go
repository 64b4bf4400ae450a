// Package cluster has the nodes of a cluster share out the shards of one database
// among themselves, and brings each request to the node that serves its shard.
//
// The database decides. A node takes a shard by closing the stream of its owner (package
// postgres): from then on the old owner cannot write, even if it does not know yet. So
// suspicion is harmless and may be quick: a node whose connection breaks and that refuses
// the next one is taken for dead at once, a silent one after store.GoneAfter. The plan (which
// node takes which shard) follows from the list of members alone, without asking any node.
//
// A shard that is given away in order is first read by its successor, while it is still
// served: when its owner lets go, only the newest inputs are left to be read. Other changes
// meanwhile (Service.Moved) have the successor open it like any other shard.
//
// A request for a shard of another node is passed on to it (Node.ServeHTTP), a plain POST of
// a reading over a connection that is kept for that (Node.Post). Answers name
// the node that serves the shard (NodeHeader), so that a balancer learns where to send the
// next one, and few requests are passed on.
//
// A node that could not report for freshFor that it is alive serves nothing, although it may
// still own its shards: it does not know what others have stored since.
package cluster
