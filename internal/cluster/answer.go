package cluster

import (
	"net/http"

	"github.com/rimewatch/rimewatch/internal/httpapi"
)

// Failure returns the answer to a device's reading that failed. Devices are answered in
// English, for programs and logs.
func (n *Node) Failure(err error) (status int, header http.Header, body []byte) {
	w := newRecorded()
	n.refuse(w, httpapi.AsError(err))
	return w.status, w.header, w.body
}

type recorded struct {
	header http.Header
	status int
	body   []byte
}

func newRecorded() *recorded { return &recorded{header: make(http.Header)} }

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
