// Package notifications is the HTTP of who is notified of which alerts, and when:
// channels, routes, silences, maintenance windows and deliveries, as resources of
// version 1 in the frame of package httpapi.
package notifications
