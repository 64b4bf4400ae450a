// Package realtime sends events to subscribers as they happen: a hub that
// hears of every commit, and its WebSocket adapter.
//
// # From a commit to a screen
//
// The writer of the commits calls Publish, which copies its argument into a
// queue and returns: a few nanoseconds a reading, and nothing at all while
// nobody listens. The dispatcher, one goroutine, sorts the queue by workspace
// into rooms and encodes each event once, as a finished WebSocket frame (an alert once
// more for each language and set of units that somebody reads it in). A room numbers its
// events and hands the same bytes to all its sockets. A
// socket has a bounded queue of its own and a goroutine only while there is
// something to write. So a dead subscriber costs nobody anything but itself.
//
// # Coalescing
//
// A lone reading goes out at once. When a room has so many readings and so many
// subscribers that writing would take more than about a fifth of a core, it
// gathers readings for up to 250 ms and sends the newest of each device, in one
// piece that all its subscribers share. A socket that falls behind keeps
// the newest reading of each device, by the time of measurement, and every other
// event. One that still has too much waiting is closed with 4408, and one that
// takes nothing for 20 s is cut off.
//
// # Resuming
//
// Events have ids that grow within a workspace. A room keeps what happened in
// the last ten minutes, as long as somebody listens and ten minutes more:
// devices' and alerts' events, the last readings one by one, and before those
// the newest reading of each device. A subscription with since gets what it
// missed; recovered is false when something may be missing, which is so after a
// restart too, because the ids of another process mean nothing to this one.
//
// # Beside the library
//
// The WebSocket library reads, and speaks the protocol's control frames; events
// are written past it, as finished frames straight to the connection, where the
// two take turns frame by frame. The library writes one message with one system
// call for one subscriber: a thousand subscribers of a thousand readings a second
// would be a million of them. Finished frames are the same bytes for everyone and
// go out many at a time. Compression is off for the same reason.
//
// # Ending
//
// Whether the token or session behind a socket still stands is asked again
// twice a second, so that one revoked by another process closes its sockets, too.
package realtime
