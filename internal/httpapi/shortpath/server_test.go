package shortpath

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// stillConn is a connection that only has an address.
type stillConn struct{ net.Conn }

func (stillConn) RemoteAddr() net.Addr { return &net.TCPAddr{} }

// echo answers a plain POST over either way with what it saw; the short path
// counts.
type echo struct{ short atomic.Int32 }

func (e *echo) ServePost(q *Request, a *Answer) {
	e.short.Add(1)
	a.Status, a.Body = http.StatusCreated, fmt.Appendf(a.Body, "%s %s", q.Token, q.Body)
	a.Header("Content-Type", "text/plain")
}

func (e *echo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	w.Header().Set("Content-Type", "text/plain")
	if r.URL.Path == "/in" {
		w.WriteHeader(http.StatusCreated)
	}
	_, _ = fmt.Fprintf(w, "%s %s", token, body)
}

// serve serves e by both ways and returns a function that connects.
func serve(t *testing.T, e *echo, hs *http.Server, idle time.Duration) func() net.Conn {
	t.Helper()
	hs.Handler = e
	l := newPipeListener()
	s := New(hs, "/in", e, idle)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return l.dial
}

// pipeListener accepts connections in memory.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
}

func newPipeListener() *pipeListener {
	return &pipeListener{make(chan net.Conn), make(chan struct{})}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { close(l.done); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

func (l *pipeListener) dial() net.Conn {
	ours, theirs := net.Pipe()
	l.conns <- theirs
	return ours
}

func post(token, headers, body string) string {
	return fmt.Sprintf("%sHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s", postLine, token, headers, len(body), body)
}

// ask sends text in pieces that end at the cuts and returns the answers.
func ask(t *testing.T, conn net.Conn, text string, cuts []int, answers int) (all []string) {
	t.Helper()
	go func() {
		from := 0
		for _, to := range append(cuts, len(text)) {
			if _, err := io.WriteString(conn, text[from:to]); err != nil {
				return
			}
			from = to
		}
	}()
	in := bufio.NewReader(conn)
	for range answers {
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			return append(all, "none")
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprint(resp.StatusCode, " ", string(body)))
	}
	return all
}

// TestMixedStreams: whatever mixture of plain and odd requests a connection
// brings, in whatever pieces, each is answered once and in order, and the plain
// ones by the loop.
func TestMixedStreams(t *testing.T) {
	e := &echo{}
	dial := serve(t, e, &http.Server{}, time.Minute)
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		var text strings.Builder
		var want []string
		plainOnes := int32(0)
		for i := range 1 + r.IntN(8) {
			body := fmt.Sprintf(`{"n":%d}%s`, i, strings.Repeat(" ", r.IntN(30)))
			switch r.IntN(6) {
			case 0:
				text.WriteString(post("a", "X-Odd: 1\r\n", body))
			case 1:
				body = "{" + strings.Repeat(" ", 5000) + "}"
				text.WriteString(post("a", "", body))
			case 2:
				text.WriteString("GET /other HTTP/1.1\r\nHost: x\r\n\r\n")
				want = append(want, "200  ")
				continue
			case 3:
				text.WriteString("\r\n")
				fallthrough
			default:
				plainOnes++
				text.WriteString(post("a", "User-Agent: x\r\n", body))
			}
			want = append(want, "201 a "+body)
		}
		var cuts []int
		for at := r.IntN(200); at < text.Len() && r.IntN(4) > 0; at += 1 + r.IntN(200) {
			cuts = append(cuts, at)
		}
		before := e.short.Load()
		conn := dial()
		got := ask(t, conn, text.String(), cuts, len(want))
		_ = conn.Close()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("round %d: %q\n%q, want\n%q", round, text.String(), got, want)
		}
		if short := e.short.Load() - before; short != plainOnes {
			t.Fatalf("round %d: %d of %d plain requests took the short path", round, short, plainOnes)
		}
	}
}

// TestForGood: a request whose end the head does not tell takes the connection
// with it, and what follows is still answered.
func TestForGood(t *testing.T) {
	for name, tt := range map[string]struct {
		first string
		want  []string
	}{
		"chunked":                {postLine + "Host: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", []string{"201  {}", "201 a {}"}},
		"a large head":           {"GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 5000) + "\r\n\r\n", []string{"200  ", "201 a {}"}},
		"HTTP/1.0":               {"GET / HTTP/1.0\r\nHost: x\r\n\r\n", []string{"200  ", "none"}},
		"two lengths":            {postLine + "Host: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}", []string{"400 400 Bad Request", "none"}},
		"a length and chunked":   {postLine + "Host: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", []string{"400 400 Bad Request", "none"}},
		"chunked and a length":   {postLine + "Host: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 12\r\n\r\n2\r\n{}\r\n0\r\n\r\n", []string{"400 400 Bad Request", "none"}},
		"chunked and no length":  {"GET / HTTP/1.1\r\nHost: x\r\ntransfer-encoding: chunked\r\ncontent-length: x\r\n\r\n0\r\n\r\n", []string{"400 400 Bad Request", "none"}},
		"both behind an odd one": {"GET / HTTP/1.1\r\nHost: x\r\nX: 1\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", []string{"400 400 Bad Request", "none"}},
		"not HTTP, no end":       {"hello\r\n", []string{"400 400 Bad Request", "none"}},
		"a name with blanks":     {"GET / HTTP/1.1\r\nHost: x\r\nX : 1\r\n\r\n", []string{"400 400 Bad Request: invalid header name", "none"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := &echo{}
			conn := serve(t, e, &http.Server{}, time.Minute)()
			defer func() { _ = conn.Close() }()
			got := ask(t, conn, tt.first+post("a", "", "{}"), nil, 2)
			if fmt.Sprint(got) != fmt.Sprint(tt.want) || e.short.Load() != 0 {
				t.Errorf("%q, want %q; %d took the short path", got, tt.want, e.short.Load())
			}
		})
	}
}

// TestTimeouts: a new connection has ten seconds for its first request, a request
// ten from its first byte on, and a connection that has served its idle time.
func TestTimeouts(t *testing.T) {
	for name, tt := range map[string]struct {
		send string // answered
		part string // not answered
		want time.Duration
	}{
		"silent":              {"", "", firstTimeout},
		"slow at once":        {"", postLine, firstTimeout},
		"slow later":          {post("a", "", "{}"), postLine, pieceTimeout},
		"idle":                {post("a", "", "{}"), "", time.Minute},
		"idle after odd ones": {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "", time.Minute},
		"back from odd ones":  {"GET / HTTP/1.1\r\nHost: x\r\n\r\n" + post("a", "", "{}"), "", time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn := serve(t, &echo{}, &http.Server{}, time.Minute)()
				defer func() { _ = conn.Close() }()
				if n := strings.Count(tt.send, "HTTP/1.1"); n > 0 {
					ask(t, conn, tt.send, nil, n)
				}
				start := time.Now()
				if tt.part != "" {
					if _, err := io.WriteString(conn, tt.part); err != nil {
						t.Fatal(err)
					}
				}
				if n, err := conn.Read(make([]byte, 1)); n != 0 || err == nil {
					t.Fatalf("%d bytes, %v", n, err)
				}
				if took := time.Since(start); took != tt.want {
					t.Errorf("closed after %v, want %v", took, tt.want)
				}
			})
		})
	}
}

// late answers after a while.
type late struct {
	echo
	after time.Duration
}

func (l *late) ServePost(q *Request, a *Answer) {
	time.Sleep(l.after)
	l.echo.ServePost(q, a)
}

// TestLateAnswer: what took long to make is delivered, the first of a connection,
// one whose request came in pieces, and the next.
func TestLateAnswer(t *testing.T) {
	for _, after := range []time.Duration{time.Second, firstTimeout + time.Second, 2 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			l := newPipeListener()
			h := &late{after: after}
			s := New(&http.Server{Handler: h}, "/in", h, time.Minute)
			ended := make(chan error, 1)
			go func() { ended <- s.Serve(l) }()
			conn := l.dial()
			answers := bufio.NewReader(conn)
			for i, pieces := range [][]string{{post("a", "", "{}")}, {post("b", "", "{}")}, {postLine, post("c", "", "{}")[len(postLine):]}} {
				for _, piece := range pieces {
					if _, err := io.WriteString(conn, piece); err != nil {
						t.Fatal(err)
					}
				}
				r, err := http.ReadResponse(answers, nil)
				if err != nil {
					t.Fatalf("the answer to request %d, made in %v: %v", i, after, err)
				}
				if _, err := io.Copy(io.Discard, r.Body); err != nil || r.StatusCode != http.StatusCreated {
					t.Error(r.Status, err)
				}
			}
			if err := errors.Join(conn.Close(), s.Shutdown(t.Context())); err != nil {
				t.Error(err)
			}
			if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
				t.Error(err)
			}
		})
	}
}

// TestClientGoesAway: a handler of net/http hears that its client is gone, and
// does not take the next request for that.
func TestClientGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newPipeListener()
		entered, ended := make(chan struct{}, 1), make(chan error, 1)
		s := New(&http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			entered <- struct{}{}
			select {
			case <-r.Context().Done():
				ended <- r.Context().Err()
			case <-time.After(time.Second):
				ended <- nil
			}
		})}, "/in", &echo{}, time.Minute)
		served := make(chan error, 1)
		go func() { served <- s.Serve(l) }()
		odd := "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
		conn := l.dial()
		go func() { _, _ = io.WriteString(conn, odd+post("a", "", "{}")) }()
		<-entered
		if _, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Errorf("with a request behind it: %v", err)
		}
		_ = conn.Close()
		conn = l.dial()
		go func() { _, _ = io.WriteString(conn, odd) }()
		<-entered
		_ = conn.Close()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("after the client has gone: %v", err)
		}
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
}

// TestShutdownOfLoans: idle connections are closed, on loan or not.
func TestShutdownOfLoans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newPipeListener()
		e := &echo{}
		s := New(&http.Server{Handler: e}, "/in", e, time.Minute)
		served := make(chan error, 1)
		go func() { served <- s.Serve(l) }()
		var conns []net.Conn
		for _, text := range []string{post("a", "", "{}"), "GET / HTTP/1.1\r\nHost: x\r\n\r\n"} {
			conn := l.dial()
			ask(t, conn, text, nil, 1)
			conns = append(conns, conn)
		}
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		for i, conn := range conns {
			if _, err := conn.Read(make([]byte, 1)); err == nil {
				t.Errorf("connection %d is open", i)
			}
		}
	})
}

// slowlyClosed is a listener whose Accept returns before Close has, as those of net may.
type slowlyClosed struct {
	*pipeListener
	close chan struct{}
}

func (l *slowlyClosed) Close() error {
	err := l.pipeListener.Close()
	<-l.close
	return err
}

// TestServeEndsClosed: once Serve has returned, nothing can connect any more.
func TestServeEndsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &slowlyClosed{newPipeListener(), make(chan struct{})}
		s := New(&http.Server{}, "/in", &echo{}, time.Minute)
		ended := make(chan error, 1)
		go func() { ended <- s.Serve(l) }()
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		select {
		case err := <-ended:
			t.Errorf("Serve has returned %v while its listener is open", err)
			close(l.close)
			return
		default:
		}
		close(l.close)
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
}
