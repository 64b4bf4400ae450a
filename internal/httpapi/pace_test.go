package httpapi

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch"
)

// slowBody yields a byte at a time until its connection's deadline is set.
type slowBody struct {
	every   time.Duration
	left    int
	expired chan struct{}
}

func (b *slowBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	select {
	case <-time.After(b.every):
		b.left--
		return copy(p, " "), nil
	case <-b.expired:
		return 0, errors.New("i/o timeout")
	}
}

type deadlineWriter struct {
	http.ResponseWriter
	body *slowBody
	set  []time.Time
}

func (w *deadlineWriter) SetReadDeadline(t time.Time) error {
	w.set = append(w.set, t)
	if !t.IsZero() && t.Before(time.Now()) {
		close(w.body.expired)
	}
	return nil
}

func (w *deadlineWriter) SetWriteDeadline(time.Time) error { return nil }

func TestSlowSenders(t *testing.T) {
	for _, tt := range []struct {
		name  string
		every time.Duration
		left  int
		ok    bool
	}{
		{"a byte a second", time.Second, 100, false},
		{"nothing at all", time.Hour, 1, false},
		{"a little late", 5 * time.Second, 2, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				body := &slowBody{every: tt.every, left: tt.left, expired: make(chan struct{})}
				w := &deadlineWriter{ResponseWriter: httptest.NewRecorder(), body: body}
				start := time.Now()
				hr := httptest.NewRequest("POST", "/", body)
				hr.ContentLength = int64(tt.left)
				src := &pacedReader{}
				src.timer = time.AfterFunc(time.Hour, src.check)
				src.begin(w, hr.Body, true)
				_, e := readAll(src, nil, -1, 1<<20, nil)
				src.end()
				if (e == nil) != tt.ok {
					t.Errorf("%v", e)
				}
				if took := time.Since(start); took > bodyGrace+time.Second {
					t.Errorf("took %v", took)
				}
				if last := w.set[len(w.set)-1]; !tt.ok && (e.Code != rimewatch.CodeInvalidJSON || !last.Before(start)) {
					t.Errorf("%v, deadlines %v: that of a slow sender must stay", e, w.set)
				} else if tt.ok && !last.IsZero() {
					t.Errorf("deadlines %v: that of a prompt one must go", w.set)
				}
			})
		})
	}
}

// deadlines is an answer whose deadline for writing can be seen.
type deadlines struct {
	httptest.ResponseRecorder
	write time.Time
}

// SetWriteDeadline is what http.ResponseController calls.
func (d *deadlines) SetWriteDeadline(t time.Time) error {
	d.write = t
	return nil
}

// TestLateAnswer: an answer that took longer to make than the server allows for writing
// is written all the same.
func TestLateAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, took := range []time.Duration{time.Second, WriteTimeout + time.Second} {
			w := &deadlines{}
			rec := &Recorder{ResponseWriter: w, begun: time.Now()}
			time.Sleep(took)
			_, _ = rec.Write([]byte("late"))
			want := time.Time{} // the server's own
			if took > WriteTimeout {
				want = time.Now().Add(WriteTimeout)
			}
			time.Sleep(time.Second)
			_, _ = rec.Write([]byte("more")) // does not move it on
			if !w.write.Equal(want) {
				t.Errorf("after %v it may be written until %v, want %v", took, w.write, want)
			}
		}
	})
}

// TestMuchToDecompress: of a body that is small until it is decompressed the sender's
// time is up when it is here, not when that is done.
func TestMuchToDecompress(t *testing.T) {
	var body bytes.Buffer
	z := gzip.NewWriter(&body)
	_, err := z.Write(bytes.Repeat([]byte(" "), 4<<20))
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("POST", "/", &body)
	r.Header.Set("Content-Encoding", "gzip")
	w := &deadlineWriter{ResponseWriter: httptest.NewRecorder()}
	_, e := readBody(w, r, nil, maxBulkBody, func() *rimewatch.Error {
		if body.Len() > 0 || len(w.set) != 1 || !w.set[0].IsZero() {
			t.Errorf("while it is decompressed, %d bytes are waited for, until %v", body.Len(), w.set)
		}
		return nil
	})
	if e != nil || len(w.set) == 0 {
		t.Errorf("%v, deadlines %v", e, w.set)
	}
}
