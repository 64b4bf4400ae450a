package cluster

import (
	"net/http"
)

// Answer has a request answered, and keeps what is written: for small answers.
func (n *Node) Answer(r *http.Request) (status int, header http.Header, body []byte) {
	w := &recorded{header: make(http.Header)}
	n.ServeHTTP(w, r)
	return w.status, w.header, w.body
}

type recorded struct {
	header http.Header
	status int
	body   []byte
}

// Header implements http.ResponseWriter.
func (w *recorded) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *recorded) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
}

// Write implements http.ResponseWriter.
func (w *recorded) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	w.body = append(w.body, b...)
	return len(b), nil
}
