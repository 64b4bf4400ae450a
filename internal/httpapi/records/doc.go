// Package records is the HTTP of what inspectors ask for: excursions, corrective
// actions, calibrations and temperature logs, as resources of version 1 in the
// frame of package httpapi.
package records
