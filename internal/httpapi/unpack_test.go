package httpapi

import (
	"bytes"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/rimewatch/rimewatch"
)

// A body in Zstandard that was written piece by piece, as a stream of readings is, says
// nothing of its size: it is unpacked whatever that is, up to the limit, and one that is
// broken is told from one that is too large.
func TestUnpackStream(t *testing.T) {
	const limit = 1 << 20
	packed := func(n int) (packed, plain []byte) {
		var b bytes.Buffer
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < n; i += 97 {
			piece := bytes.Repeat([]byte{'0' + byte(i%10)}, min(97, n-i))
			plain = append(plain, piece...)
			if _, err := z.Write(piece); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes(), plain
	}
	for _, n := range []int{0, 1, 500, 100_000, 131_072, 131_073, 600_000, limit} {
		body, plain := packed(n)
		if got, err := unpack("zstd", body, nil, limit, nil); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%d bytes: %v, %d bytes", n, err, len(got))
		}
	}
	body, _ := packed(600_000)
	for what, c := range map[string]struct {
		body []byte
		code rimewatch.Code
	}{
		"cut off": {body[:len(body)/2], rimewatch.CodeInvalidJSON},
		"none":    {[]byte("{}"), rimewatch.CodeInvalidJSON},
		"flipped": {append(bytes.Clone(body[:40]), append([]byte{body[40] ^ 0xff}, body[41:]...)...), rimewatch.CodeInvalidJSON},
	} {
		if _, err := unpack("zstd", c.body, nil, limit, nil); err == nil || err.Code != c.code {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, n := range []int{limit + 1, limit + 200_000, 9 * limit} {
		body, _ := packed(n)
		if _, err := unpack("zstd", body, nil, limit, nil); err == nil || err.Code != rimewatch.CodePayloadTooLarge {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}
