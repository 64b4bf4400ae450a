// Package photo prepares attached files for storage. Images are decoded,
// scaled down and encoded anew, so that nothing but their pixels is left: no place, no device,
// no second file behind the first. What they would become is looked at before anything is
// decoded: a small file can claim to be a huge image.
package photo

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/draw"
	"image/jpeg"
	"image/png"

	"github.com/rimewatch/rimewatch"
)

// The types of files that are kept.
const (
	JPEG = "image/jpeg"
	PNG  = "image/png"
	PDF  = "application/pdf"
)

// quality is that of the JPEG images that are kept: writing on a label stays readable.
const quality = 88

// File is what is kept of a file.
type File struct {
	Type          string
	Width, Height int // px, 0 of a document
	Data          []byte
}

// TypeOf returns the type of a file by its first bytes, "" = none that is kept.
func TypeOf(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return JPEG
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return PNG
	case bytes.HasPrefix(data, []byte("%PDF-")):
		return PDF
	}
	return ""
}

// Keep returns what is kept of a file: CodeUnsupportedMedia where it is neither JPEG, PNG nor
// PDF, CodePayloadTooLarge beyond rimewatch.MaxAttachment, CodeValidationFailed where an image
// is damaged or has more than rimewatch.MaxPixels. A document is kept as it is.
func Keep(data []byte) (File, error) {
	kind := TypeOf(data)
	switch {
	case kind == "":
		return File{}, rimewatch.Errorf(rimewatch.CodeUnsupportedMedia, "The file must be a JPEG or PNG image, or a PDF.")
	case len(data) > rimewatch.MaxAttachment:
		return File{}, errTooLarge(rimewatch.MaxAttachment)
	case kind == PDF:
		return File{Type: PDF, Data: data}, nil
	}
	return picture(data, kind, rimewatch.MaxAttachmentSide)
}

// Logo returns what is kept of a file as a logo: as Keep, but no document, and smaller.
func Logo(data []byte) (rimewatch.Logo, error) {
	kind := TypeOf(data)
	switch {
	case kind != JPEG && kind != PNG:
		return rimewatch.Logo{}, rimewatch.Errorf(rimewatch.CodeUnsupportedMedia, "The file must be a JPEG or PNG image.")
	case len(data) > rimewatch.MaxLogo:
		return rimewatch.Logo{}, errTooLarge(rimewatch.MaxLogo)
	}
	f, err := picture(data, kind, rimewatch.MaxLogoSide)
	return rimewatch.Logo{Type: f.Type, Width: f.Width, Height: f.Height, Data: f.Data}, err
}

func errTooLarge(most int) error {
	return rimewatch.Errorf(rimewatch.CodePayloadTooLarge, "The file must not be larger than %d MB.", most>>20)
}

// picture decodes an image and encodes it anew, its longer side scaled down to so many px.
func picture(data []byte, kind string, side int) (File, error) {
	cfg, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || cfg.Width < 1 || cfg.Height < 1 {
		return File{}, errDamaged(err)
	}
	if int64(cfg.Width)*int64(cfg.Height) > rimewatch.MaxPixels {
		return File{}, rimewatch.Invalid("file", "has %d by %d pixels; at most %d million are taken", cfg.Width, cfg.Height, rimewatch.MaxPixels/1_000_000)
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return File{}, errDamaged(err)
	}
	small := shrink(img, side)
	if kind == JPEG {
		small = turned(small, orientation(data))
	}
	return encode(small, kind)
}

func errDamaged(err error) error {
	e := rimewatch.Invalid("file", "is no image that can be read")
	e.Err = err
	return e
}

// encode writes an image. A large photograph that came as PNG becomes a JPEG.
func encode(img *image.RGBA, kind string) (File, error) {
	var b bytes.Buffer
	var err error
	if kind == PNG {
		if err = png.Encode(&b, img); err == nil && (b.Len() > rimewatch.MaxAttachment/4 && img.Opaque() || b.Len() > rimewatch.MaxAttachment) {
			kind = JPEG
			b.Reset()
		}
	}
	if kind == JPEG && err == nil {
		err = jpeg.Encode(&b, img, &jpeg.Options{Quality: quality})
	}
	return File{Type: kind, Width: img.Rect.Dx(), Height: img.Rect.Dy(), Data: b.Bytes()}, err
}

// shrink scales an image down until its longer side is at most so long: each pixel is the mean
// of those that it replaces. Its rows are converted a few at a time.
func shrink(img image.Image, side int) *image.RGBA {
	from := img.Bounds()
	sw, sh := from.Dx(), from.Dy()
	dw, dh := sw, sh
	if longer := max(sw, sh); longer > side {
		dw, dh = max(sw*side/longer, 1), max(sh*side/longer, 1)
	}
	out := image.NewRGBA(image.Rect(0, 0, dw, dh))
	if dw == sw && dh == sh {
		draw.Draw(out, out.Rect, img, from.Min, draw.Src)
		return out
	}
	strip := image.NewRGBA(image.Rect(0, 0, sw, (sh+dh-1)/dh+1))
	for y := range dh {
		y0, y1 := y*sh/dh, max((y+1)*sh/dh, y*sh/dh+1)
		rows := image.Rect(0, 0, sw, y1-y0)
		draw.Draw(strip, rows, img, from.Min.Add(image.Pt(0, y0)), draw.Src)
		for x := range dw {
			x0, x1 := x*sw/dw, max((x+1)*sw/dw, x*sw/dw+1)
			var sum [4]int
			for sy := range y1 - y0 {
				row := strip.Pix[sy*strip.Stride+4*x0 : sy*strip.Stride+4*x1]
				for i, v := range row {
					sum[i&3] += int(v)
				}
			}
			n := (x1 - x0) * (y1 - y0)
			at := out.PixOffset(x, y)
			for i := range sum {
				out.Pix[at+i] = uint8((sum[i] + n/2) / n)
			}
		}
	}
	return out
}

// turned returns an image as it is to be looked at, by its EXIF orientation (1 to 8).
func turned(img *image.RGBA, o int) *image.RGBA {
	if o < 2 || o > 8 {
		return img
	}
	w, h := img.Rect.Dx(), img.Rect.Dy()
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	if o >= 5 {
		out = image.NewRGBA(image.Rect(0, 0, h, w))
	}
	for y := range h {
		for x := range w {
			tx, ty := x, y
			switch o {
			case 2:
				tx = w - 1 - x
			case 3:
				tx, ty = w-1-x, h-1-y
			case 4:
				ty = h - 1 - y
			case 5:
				tx, ty = y, x
			case 6:
				tx, ty = h-1-y, x
			case 7:
				tx, ty = h-1-y, w-1-x
			case 8:
				tx, ty = y, w-1-x
			}
			copy(out.Pix[out.PixOffset(tx, ty):][:4], img.Pix[img.PixOffset(x, y):][:4])
		}
	}
	return out
}

// orientation reads tag 0x0112 of a JPEG's EXIF (CIPA DC-008), 1 where there is none: phones
// save what their sensor saw, and how they were held beside it.
func orientation(data []byte) int {
	for p := 2; p+4 <= len(data) && data[p] == 0xff; {
		marker, n := data[p+1], int(binary.BigEndian.Uint16(data[p+2:]))
		if marker == 0xda || n < 2 || p+2+n > len(data) {
			break
		}
		segment := data[p+4 : p+2+n]
		if tiff, ok := bytes.CutPrefix(segment, []byte("Exif\x00\x00")); ok && marker == 0xe1 {
			return tiffOrientation(tiff)
		}
		p += 2 + n
	}
	return 1
}

func tiffOrientation(tiff []byte) int {
	if len(tiff) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.BigEndian
	if tiff[0] == 'I' {
		order = binary.LittleEndian
	}
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return 1
	}
	n := int64(order.Uint16(tiff[at:]))
	for i := range n {
		entry := at + 2 + 12*i
		if entry+12 > int64(len(tiff)) {
			break
		}
		if order.Uint16(tiff[entry:]) == 0x0112 {
			return int(order.Uint16(tiff[entry+8:]))
		}
	}
	return 1
}
