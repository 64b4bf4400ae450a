package core

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch/internal/store"
)

// TestLogOfAnotherVersion: an entry that is whole, but of another format, is not
// called damaged.
func TestLogOfAnotherVersion(t *testing.T) {
	entry := []byte{0, 0, 0, 0, logVersion + 1, 0}
	binary.LittleEndian.PutUint32(entry, sum(entry[4:], 7))
	err := decodeLog(7, entry, func(*store.Entry, []byte) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "commit 7 has version 4") {
		t.Error(err)
	}
}
