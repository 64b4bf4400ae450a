// Package outage judges the devices of a site together: whether their silence is one
// outage, and whether their predictions have a common cause. It is pure: the devices
// of a site with their alerts, and the moment, go in; what is to be done comes out. Whoever
// carries it out asks again after the commit, so that a crash between two steps
// needs no repair.
package outage
