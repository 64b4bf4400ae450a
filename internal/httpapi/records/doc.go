// Package records is the HTTP API of records for inspectors: excursions, corrective
// actions, calibrations and temperature logs, as resources of version 1 in the
// frame of package httpapi.
package records
