package photo

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// pattern is an image whose left upper corner is red and whose other pixels are blue.
func pattern(w, h int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.Set(x, y, color.RGBA{0, 0, 255, 255})
			if x < w/2 && y < h/2 {
				img.Set(x, y, color.RGBA{255, 0, 0, 255})
			}
		}
	}
	return img
}

func jpegOf(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// place is text that stands for where a photo was taken.
const place = "52.5163N 13.3777E"

// withEXIF adds an orientation and a place to a JPEG.
func withEXIF(b []byte, orientation uint16) []byte {
	tiff := []byte("MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01")
	tiff = binary.BigEndian.AppendUint16(tiff, orientation)
	tiff = append(tiff, 0, 0, 0, 0, 0, 0)
	tiff = append(tiff, place...)
	body := append([]byte("Exif\x00\x00"), tiff...)
	out := append([]byte{}, b[:2]...)
	out = append(out, 0xff, 0xe1)
	out = binary.BigEndian.AppendUint16(out, uint16(len(body)+2))
	out = append(out, body...)
	return append(out, b[2:]...)
}

// red reports in which corner of an image the red is: lu, ru, ll or rl.
func red(t *testing.T, data []byte) string {
	t.Helper()
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	b := img.Bounds()
	for name, p := range map[string]image.Point{"lu": {b.Dx() / 4, b.Dy() / 4}, "ru": {b.Dx() * 3 / 4, b.Dy() / 4}, "ll": {b.Dx() / 4, b.Dy() * 3 / 4}, "rl": {b.Dx() * 3 / 4, b.Dy() * 3 / 4}} {
		if r, _, bl, _ := img.At(p.X, p.Y).RGBA(); r > bl {
			return name
		}
	}
	return "nowhere"
}

// TestKeepOnlyPixels: nothing of a photo but what it shows is kept, turned as it was held.
func TestKeepOnlyPixels(t *testing.T) {
	photo := jpegOf(t, pattern(80, 40))
	for orientation, want := range map[uint16]string{1: "lu", 2: "ru", 3: "rl", 4: "ll", 5: "lu", 6: "ru", 7: "rl", 8: "ll", 9: "lu"} {
		sent := withEXIF(photo, orientation)
		if !bytes.Contains(sent, []byte(place)) {
			t.Fatal("the photo has no place to lose")
		}
		f, err := Keep(sent)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(f.Data, []byte(place)) || bytes.Contains(f.Data, []byte("Exif")) {
			t.Error("the place is kept")
		}
		if got := red(t, f.Data); got != want {
			t.Errorf("orientation %d: red is at %s, want %s", orientation, got, want)
		}
		if w, h := f.Width, f.Height; (orientation >= 5 && orientation <= 8) != (w == 40 && h == 80) {
			t.Errorf("orientation %d: %d by %d", orientation, w, h)
		}
	}
	if f, err := Keep(append(photo, "<script>alert(1)</script>"...)); err != nil || bytes.Contains(f.Data, []byte("script")) {
		t.Error("what stands behind the image is kept", err)
	}
}

func TestKeepShrinks(t *testing.T) {
	f, err := Keep(jpegOf(t, pattern(5000, 2500)))
	if err != nil || f.Width != 2560 || f.Height != 1280 || f.Type != JPEG || red(t, f.Data) != "lu" {
		t.Errorf("%d by %d %s, %v", f.Width, f.Height, f.Type, err)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, pattern(30, 20)); err != nil {
		t.Fatal(err)
	}
	f, err = Keep(b.Bytes())
	if err != nil || f.Width != 30 || f.Height != 20 || f.Type != PNG || red(t, f.Data) != "lu" {
		t.Errorf("%d by %d %s, %v", f.Width, f.Height, f.Type, err)
	}
}

// bomb is a PNG of a few bytes that claims so many pixels.
func bomb(w, h uint32) []byte {
	b := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR")
	b = binary.BigEndian.AppendUint32(b, w)
	b = binary.BigEndian.AppendUint32(b, h)
	b = append(b, 8, 6, 0, 0, 0)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[12:]))
}

// TestKeepRefuses: what is too much is refused before any of it is decoded.
func TestKeepRefuses(t *testing.T) {
	huge := bomb(20_000, 10_000)
	if n := testing.AllocsPerRun(1, func() { _, _ = Keep(huge) }); n > 100 {
		t.Errorf("%v allocations", n)
	}
	before := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = Keep(huge)
		}
	})
	if before.AllocedBytesPerOp() > 64<<10 {
		t.Errorf("200 megapixels took %d bytes", before.AllocedBytesPerOp())
	}
	for name, c := range map[string]struct {
		data []byte
		want rimewatch.Code
	}{
		"200 megapixels": {huge, rimewatch.CodeValidationFailed},
		"no pixels":      {bomb(0, 10), rimewatch.CodeValidationFailed},
		"its head alone": {bomb(10, 10), rimewatch.CodeValidationFailed},
		"SVG":            {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), rimewatch.CodeUnsupportedMedia},
		"GIF":            {[]byte("GIF89a"), rimewatch.CodeUnsupportedMedia},
		"nothing":        {nil, rimewatch.CodeUnsupportedMedia},
		"a large PDF":    {append([]byte("%PDF-1.7"), make([]byte, rimewatch.MaxAttachment)...), rimewatch.CodePayloadTooLarge},
	} {
		if _, err := Keep(c.data); rimewatch.CodeOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	doc := []byte("%PDF-1.7 as it is")
	if f, err := Keep(doc); err != nil || !bytes.Equal(f.Data, doc) || f.Type != PDF {
		t.Error("a document is changed", err)
	}
}

// FuzzKeep: no file makes it panic, and what is kept can be read.
func FuzzKeep(f *testing.F) {
	f.Add(bomb(10, 10))
	f.Add(withEXIF(jpegOf(f, pattern(8, 4)), 6))
	f.Fuzz(func(t *testing.T, data []byte) {
		if cfg, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil && cfg.Width*cfg.Height > 1<<20 {
			return // which takes long, and is tried above
		}
		kept, err := Keep(data)
		if err == nil && kept.Type != PDF {
			if _, _, err := image.Decode(bytes.NewReader(kept.Data)); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestLogo: what is printed small is kept small, transparent as it came.
func TestLogo(t *testing.T) {
	var b bytes.Buffer
	img := image.NewNRGBA(image.Rect(0, 0, 1200, 300))
	img.Set(0, 0, color.NRGBA{255, 0, 0, 255})
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	l, err := Logo(b.Bytes())
	if err != nil || l.Type != PNG || l.Width != 600 || l.Height != 150 {
		t.Fatalf("%s %d×%d, %v", l.Type, l.Width, l.Height, err)
	}
	if kept, err := png.Decode(bytes.NewReader(l.Data)); err != nil {
		t.Error(err)
	} else if _, _, _, a := kept.At(300, 100).RGBA(); a != 0 {
		t.Error("what was transparent is not")
	}
	for name, x := range map[string]struct {
		data []byte
		want rimewatch.Code
	}{
		"document": {[]byte("%PDF-1.7"), rimewatch.CodeUnsupportedMedia},
		"drawing":  {[]byte("<svg/>"), rimewatch.CodeUnsupportedMedia},
		"damaged":  {[]byte("\x89PNG\r\n\x1a\nno"), rimewatch.CodeValidationFailed},
		"large":    {append([]byte("\xff\xd8\xff"), make([]byte, rimewatch.MaxLogo)...), rimewatch.CodePayloadTooLarge},
	} {
		if _, err := Logo(x.data); rimewatch.CodeOf(err) != x.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
