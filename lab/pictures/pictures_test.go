package pictures

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestPicturesShowTheEngine: the committed pictures are those that the simulator and the engine
// make today. `make pictures` draws them anew, and a person looks at what changed.
func TestPicturesShowTheEngine(t *testing.T) {
	dir := t.TempDir()
	if err := Draw(dir); err != nil {
		t.Fatal(err)
	}
	for _, p := range all() {
		name := p.name + ".svg"
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("../../docs/img", name))
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(got, want) {
			t.Errorf("docs/img/%s shows what the engine no longer does: make pictures, look at it, commit it", name)
		}
	}
}
