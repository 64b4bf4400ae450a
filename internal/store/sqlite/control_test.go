package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/storetest"
)

func TestControl(t *testing.T) {
	storetest.Control(t, func(t *testing.T) store.Store {
		s, err := Open(t.Context(), Config{Path: filepath.Join(t.TempDir(), FileName)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		return s
	})
}
