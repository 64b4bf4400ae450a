package httpapi

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/catalogue"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// StatusOf maps every code to its HTTP status: the one place that does.
var StatusOf = map[rimewatch.Code]int{
	rimewatch.CodeInvalidJSON:        http.StatusBadRequest,
	rimewatch.CodeUnauthenticated:    http.StatusUnauthorized,
	rimewatch.CodeForbidden:          http.StatusForbidden,
	rimewatch.CodeNotFound:           http.StatusNotFound,
	rimewatch.CodeDeviceNotFound:     http.StatusNotFound,
	rimewatch.CodeAlertNotFound:      http.StatusNotFound,
	rimewatch.CodePolicyNotFound:     http.StatusNotFound,
	rimewatch.CodeMethodNotAllowed:   http.StatusMethodNotAllowed,
	rimewatch.CodeSerialTaken:        http.StatusConflict,
	rimewatch.CodeAlertNotActive:     http.StatusConflict,
	rimewatch.CodeConflict:           http.StatusConflict,
	rimewatch.CodeWrongWorkspace:     http.StatusConflict,
	rimewatch.CodePayloadTooLarge:    http.StatusRequestEntityTooLarge,
	rimewatch.CodeUnsupportedMedia:   http.StatusUnsupportedMediaType,
	rimewatch.CodeValidationFailed:   http.StatusUnprocessableEntity,
	rimewatch.CodeUnknownDevice:      http.StatusUnprocessableEntity,
	rimewatch.CodeUpgradeRequired:    http.StatusUpgradeRequired,
	rimewatch.CodeRateLimited:        http.StatusTooManyRequests,
	rimewatch.CodeQuotaExceeded:      http.StatusConflict,
	rimewatch.CodePreconditionFailed: http.StatusPreconditionFailed,
	rimewatch.CodeCursorExpired:      http.StatusGone,
	rimewatch.CodePersonRequired:     http.StatusUnprocessableEntity,
	rimewatch.CodeProofRequired:      http.StatusForbidden,
	rimewatch.CodeHeldFull:           http.StatusTooManyRequests,
	rimewatch.CodeInternal:           http.StatusInternalServerError,
	rimewatch.CodeUnavailable:        http.StatusServiceUnavailable,
	rimewatch.CodeOutcomeUnknown:     http.StatusGatewayTimeout,
}

// defaultRetryAfter is sent to clients where the failure names no time itself.
const defaultRetryAfter = time.Second

// AsError returns the part of err that a caller may see. An error without a code of its
// own is internal and says nothing about itself.
func AsError(err error) *rimewatch.Error {
	var e *rimewatch.Error
	if !errors.As(err, &e) {
		return rimewatch.Wrap(rimewatch.CodeInternal, err, "Internal error.")
	}
	if _, known := StatusOf[e.Code]; !known || e.Code == rimewatch.CodeInternal {
		return rimewatch.Wrap(rimewatch.CodeInternal, err, "Internal error.")
	}
	return e
}

// FailureHeaders sets the headers of an error.
func FailureHeaders(h http.Header, e *rimewatch.Error) {
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Del("Content-Disposition")
	switch e.Code {
	case rimewatch.CodeUnauthenticated:
		h.Set("WWW-Authenticate", "Bearer")
	case rimewatch.CodeUpgradeRequired:
		h["Upgrade"], h["Connection"], h["Sec-Websocket-Version"] = []string{"websocket"}, []string{"Upgrade"}, []string{"13"}
	case rimewatch.CodeRateLimited, rimewatch.CodeHeldFull, rimewatch.CodeUnavailable:
		h.Set("Retry-After", retryAfter(e.RetryAfter))
	}
}

// retryAfter is a span in whole seconds, at least one, never too short.
func retryAfter(d time.Duration) string {
	if d <= 0 {
		d = defaultRetryAfter
	}
	return strconv.Itoa(int(math.Ceil(d.Seconds())))
}

// InLanguage writes an error in the language with this tag.
func InLanguage(e *rimewatch.Error, tag string) *rimewatch.Error {
	if tag == catalogue.English {
		return e
	}
	return e.In(catalogue.Of(tag).Say)
}

// ForReader writes an error for whoever reads the answer to a request of which nothing
// more is known: a person's own language stands in the store.
func ForReader(e *rimewatch.Error, r *http.Request) *rimewatch.Error {
	return InLanguage(e, catalogue.Match(r.Header.Get("Accept-Language")))
}

// Shown returns the part of err that the caller may see, in the language of Locale.
func (c *Call) Shown(err error) *rimewatch.Error {
	return InLanguage(AsError(err), c.Locale().Language)
}

// Refused notes the refusal of a call, for a handler that writes it itself.
func (c *Call) Refused(e *rimewatch.Error) { c.failed = e }

// writeFailure answers with an error.
func (c *Call) writeFailure(w http.ResponseWriter, e *rimewatch.Error) {
	c.Refused(e)
	FailureHeaders(w.Header(), e)
	if c.R != nil && asksFor(c.R.Header, typeProblem) {
		w.Header().Set("Content-Type", typeProblem)
		w.WriteHeader(StatusOf[e.Code])
		_, _ = w.Write(wire.AppendProblem(nil, c.Shown(e), StatusOf[e.Code], http.StatusText(StatusOf[e.Code]), c.ID))
		return
	}
	w.WriteHeader(StatusOf[e.Code])
	_, _ = w.Write(wire.AppendFailure(nil, c.Shown(e), c.ID))
}

// typeProblem is the form of errors of RFC 9457, which is sent to those who name it.
const typeProblem = "application/problem+json"

// asksFor reports whether Accept names a media type, regardless of preferences.
func asksFor(h http.Header, mediaType string) bool {
	for _, line := range h["Accept"] {
		for part := range strings.SplitSeq(line, ",") {
			if name, _, _ := strings.Cut(part, ";"); strings.EqualFold(strings.TrimSpace(name), mediaType) {
				return true
			}
		}
	}
	return false
}

// ErrDeviceNotFound refuses a serial that the workspace does not have.
func ErrDeviceNotFound() *rimewatch.Error {
	return rimewatch.Errorf(rimewatch.CodeDeviceNotFound, "There is no device with this serial.")
}
