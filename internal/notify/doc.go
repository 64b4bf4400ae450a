// Package notify notifies people of alerts. The timeline that every commit writes is
// its outbox: a worker reads the lines after the last planned one, asks plan what
// is wanted, stores that as deliveries together with how far it has read, and
// sends them. No message about an alert or a report is sent before it is stored, so none is
// forgotten. Each attempt is marked before it is made: whose outcome is not known is sent
// again with the same id, or, once its alert is over, told of that.
//
// # Planning
//
// One goroutine plans. It is woken right after a commit that concerns alerts, and
// at the moments that earlier plans asked for, which lie in a heap. It never waits
// for a receiver. What is critical is planned first. A mass outage is planned in slices,
// each one write, between which new alerts are read. An alert that cannot be planned is
// tried again after a second and then less often; the mark of what is planned stays
// before its transitions until its deliveries are stored, in the same transaction.
//
// # Sending
//
// Every channel has a lane of its own with a bounded number of messages under way:
// a slow or dead receiver delays nobody else. What is urgent, about a critical alert, goes
// first, and has a place that nothing else takes. It holds so many deliveries and leaves the
// rest in the store until they are due before those that it holds. What fails is tried again for a day,
// after 5 s at first and an hour at last, unless the receiver has said that it will
// never take it; of a critical alert, unless it has said that it is gone. After three
// failures in a row one message at a time tries whether the channel works again; then
// everything that waits is sent. When a channel keeps
// failing, that is reported through another one, once per outage, and again when it is over.
package notify
