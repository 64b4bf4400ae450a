package store

import (
	"errors"
	"fmt"
)

// SchemaVersion grows with every change of the tables or of what their blobs
// hold that this program would not read as before. Every version has its step in
// tables.Current and its golden store in internal/app/testdata.
const SchemaVersion = 11

// OldestSchema is the first version that was frozen: stores from it on are
// brought up to date.
const OldestSchema = 8

// ErrOlder means that a store is of an older version, which a server brings up to
// date when it starts.
var ErrOlder = errors.New("start the server, which brings it up to date")

// CheckVersion reports why a store of a version of the schema cannot be used by
// this program as it is: ErrOlder when it can be brought up to date.
func CheckVersion(found int) error {
	switch {
	case found > SchemaVersion:
		return fmt.Errorf("the store is from a newer version of Rimewatch (schema %d; this program knows %d): start that version, or restore a backup of this one", found, SchemaVersion)
	case found < OldestSchema:
		return fmt.Errorf("the store is from an older version of Rimewatch (schema %d; this program needs %d) and cannot be brought up to date", found, OldestSchema)
	case found < SchemaVersion:
		return fmt.Errorf("the store is from an older version of Rimewatch (schema %d; this program writes %d): %w", found, SchemaVersion, ErrOlder)
	}
	return nil
}
