package fleet

import (
	"bytes"
	"testing"

	_ "github.com/rimewatch/rimewatch/internal/trial"
	"pgregory.net/rapid"
)

func TestPackZeros(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prefix := rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "prefix")
		state := rapid.SliceOf(rapid.SampledFrom([]byte{0, 0, 0, 0, 1, 255})).Draw(t, "state")
		packed := packZeros(bytes.Clone(prefix), state)
		if !bytes.Equal(packed[:len(prefix)], prefix) {
			t.Fatal("the prefix changed")
		}
		got, err := unpackZeros(nil, packed[len(prefix):])
		if err != nil || !bytes.Equal(got, state) {
			t.Fatalf("%v became %v, %v", state, got, err)
		}
	})
	for _, damaged := range [][]byte{{0}, {0, 0}, {0, 0x80}, {0, 0xff, 0xff, 0xff, 0xff, 0x0f}} {
		if _, err := unpackZeros(nil, damaged); err == nil {
			t.Errorf("%v was unpacked", damaged)
		}
	}
}
