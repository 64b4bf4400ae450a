// Package record assigns alerts and excursions to cases. Stores ask it inside the transaction
// that writes an alert or an excursion, so that a case is there from the commit on that made
// it necessary, and a replay, which writes neither again, opens none a second time.
//
// A case is one device and one stretch of time. Alerts and excursions that overlap it, or begin
// within JoinWithin of its end, join it, unless it is signed. An outage of a site is
// one case, which what happens to the site's devices meanwhile joins. What never was
// critical joins, but opens no case and makes none last longer.
package record
