// Package demo runs a server with a made-up market in it: two sites, twelve
// refrigerators that package simulate lives for, and six of them in trouble.
//
// It is an ordinary server. Whatever the devices say goes through the public
// API, with a token, like that of any other fleet: first the past, in batches,
// then the present, reading by reading. So the alerts that are seen are the
// service's own.
//
// The past ends at the moment of the start. One condenser has been fouling for
// weeks, a door was left open a while ago, and one unit has just lost its power.
// The door is closed and the power comes back while one watches; after some
// hours both happen again, for whoever leaves the demo running. Soon after the
// start a supply sags for two minutes, so that an alert is seen to open and end.
//
// Two people are notified, by webhooks that end in this process: the night shift at
// once, the manager of what the night shift does not acknowledge in a minute.
// Each acknowledges one alert; the others are left to whoever looks.
package demo
