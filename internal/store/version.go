package store

import "fmt"

// SchemaVersion grows with every change of the tables or of what their blobs
// hold: a store of another version is refused.
const SchemaVersion = 8

// CheckVersion reports why a store of a version of the schema cannot be used by
// this program.
func CheckVersion(found int) error {
	switch {
	case found > SchemaVersion:
		return fmt.Errorf("the store is from a newer version of Rimewatch (schema %d; this program knows %d): start that version, or restore a backup of this one", found, SchemaVersion)
	case found < SchemaVersion:
		return fmt.Errorf("the store is from an older version of Rimewatch (schema %d; this program needs %d) and cannot be brought up to date", found, SchemaVersion)
	}
	return nil
}
