// Package plan decides the notifications of an alert: to whom, over which channel, when. It is
// pure: the result follows from the alert and its timeline, the workspace's rules,
// the deliveries already made and the moment. Asked again at any moment, after a
// restart too, it wants nothing twice: every delivery has a key that says what
// it is, alert/{alert}/{episode}/{kind}/{route}/{level}/{n}/{channel}. An episode
// ends when an acknowledgement expires; n counts what may happen more than once.
//
// # Rules
//
// A route notifies its levels one after the other, each after its delay from the
// alert's start. For a route that is narrowed by severity that is the moment at
// which the severity began to match. People get the time that the route gives them: a
// level waits, from when the level before it was really notified, as long as lies
// between the delays of the two; and where the alert was held back meanwhile
// (acknowledged, silenced, caused by another), from when those were notified anew.
//
//   - A resolved alert: its recipients are notified of it, once, if the route says so.
//     Deliveries that still wait are dropped.
//   - Caused by another alert, silenced or under maintenance: nothing. At the
//     end it is looked at again: who was not notified is notified, the others reminded.
//   - What silences, windows and routes match by (site, type, severity) is that of each
//     moment of the timeline: who leaves a silence by a move is notified as at its end,
//     and a route's delays count from when it began to match.
//   - device_offline waits two minutes: the site's outage may explain it.
//   - Acknowledged: no further level and no reminder. When the acknowledgement
//     expires, those who were notified are reminded, and the levels go on where they
//     stopped. A warning that becomes critical is notified of again in any case.
//   - A critical alert that no route brings to anybody goes once to every channel whose last
//     test or delivery succeeded.
//   - Quiet hours and digests hold warnings back, never critical alerts.
//   - A channel that several routes name in their first levels is notified once that an
//     alert opened, rose or is over, and reminded by the shortest of their spans.
package plan
