// Package notifications is the HTTP API of notifications:
// channels, routes, silences, maintenance windows and deliveries, as resources of
// version 1 in the frame of package httpapi.
package notifications
