package realtime

import (
	"bytes"
	"errors"
	"net"
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "github.com/rimewatch/rimewatch/internal/trial"
)

// clientFrame is a masked text frame of n bytes, of which sent are there.
func clientFrame(head []byte, sent int) []byte {
	b := append([]byte{0x81}, head...)
	return append(append(b, 1, 2, 3, 4), bytes.Repeat([]byte{0xff}, sent)...)
}

// TestFrameWatch: frames of any size up to the limit pass in whatever pieces they
// come, whatever their payload looks like, and the first that claims more does not.
func TestFrameWatch(t *testing.T) {
	heads := []struct {
		head []byte
		size int
	}{
		{[]byte{0x80}, 0},
		{[]byte{0x80 | 125}, 125},
		{[]byte{0x80 | 126, 0, 126}, 126},
		{[]byte{0x80 | 126, 0xff, 0xff}, 65535},
		{[]byte{0x80 | 127, 0, 0, 0, 0, 0, 1, 0, 0}, 65536},
		{[]byte{0x80 | 127, 0, 0, 0, 0, 0, 0, 0, 1}, 1},
	}
	tooBig := [][]byte{
		{0x80 | 127, 0, 0, 0, 0, 0, 1, 0, 1},
		{0x80 | 127, 0x40, 0, 0, 0, 0, 0, 0, 0}, // 2^62
		{0x80 | 127, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
	}
	rapid.Check(t, func(t *rapid.T) {
		var good []byte
		for range rapid.IntRange(0, 4).Draw(t, "frames") {
			h := rapid.SampledFrom(heads).Draw(t, "head")
			good = append(good, clientFrame(h.head, h.size)...)
		}
		var w frameWatch
		feed := func(b []byte) error {
			for len(b) > 0 {
				n := min(len(b), rapid.IntRange(1, 70_000).Draw(t, "piece"))
				if err := w.see(b[:n]); err != nil {
					return err
				}
				b = b[n:]
			}
			return nil
		}
		if err := feed(good); err != nil {
			t.Fatalf("a good frame: %v", err)
		}
		if err := feed(clientFrame(rapid.SampledFrom(tooBig).Draw(t, "claim"), 0)); !errors.Is(err, errTooBig) {
			t.Fatalf("a frame that claims too much: %v", err)
		}
		if err := w.see([]byte{0}); !errors.Is(err, errTooBig) {
			t.Fatalf("after it: %v", err)
		}
	})
}

// written is a connection that keeps what was written to it.
type written struct {
	net.Conn
	all []byte
}

func (w *written) Write(b []byte) (int, error) {
	w.all = append(w.all, b...)
	return len(b), nil
}

func (w *written) SetWriteDeadline(time.Time) error { return nil }

// TestNothingAfterTheCloseFrame: frames that were taken before the socket was
// closed do not go out behind the close frame; behind other control frames they do.
func TestNothingAfterTheCloseFrame(t *testing.T) {
	var w written
	l := &framedConn{Conn: &w}
	text, ping, end := []byte{0x81, 1, 'a'}, []byte{0x89, 0}, []byte{0x88, 2, 3, 0xf4}
	if _, err := l.Write(ping); err != nil {
		t.Fatal(err)
	}
	if err := l.send(text); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Write(end); err != nil {
		t.Fatal(err)
	}
	if err := l.send(text); !errors.Is(err, errEnded) {
		t.Errorf("frames after the close frame: %v", err)
	}
	if want := bytes.Join([][]byte{ping, text, end}, nil); !bytes.Equal(w.all, want) {
		t.Errorf("sent % x, want % x", w.all, want)
	}
}
