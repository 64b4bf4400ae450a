package outbound

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"regexp"
	"strings"
	"syscall"

	"github.com/rimewatch/rimewatch"
)

// Failure turns the error of an exchange into one that people may see. Its code
// says whether trying again makes sense: CodeUnavailable, with RetryAfter as the
// receiver asks for it, CodeOutcomeUnknown, which makes sense to try again too, where the
// message may have been taken, or another one for what will not get better by itself.
// Neither message nor cause holds a URL: those of many services are secrets.
func Failure(err error) *rimewatch.Error {
	cause := errors.New(links.ReplaceAllString(err.Error(), "•••"))
	var ours *rimewatch.Error
	var no *Refused
	var status *StatusError
	var timeout net.Error
	var dns *net.DNSError
	var op *net.OpError
	var cert *tls.CertificateVerificationError
	var host x509.HostnameError
	switch {
	case errors.As(err, &ours):
		return ours
	case errors.As(err, &no):
		// Not which: that would reveal what the operator's name servers know.
		return rimewatch.Wrap(rimewatch.CodeForbidden, cause, "The receiver's address is not allowed.")
	case errors.As(err, &status):
		return ofStatus(status)
	case errors.As(err, &dns):
		return rimewatch.Wrap(rimewatch.CodeUnavailable, cause, "The receiver's name %s does not resolve.", dns.Name)
	case errors.As(err, &cert), errors.As(err, &host), strings.Contains(err.Error(), plainAnswer):
		return rimewatch.Wrap(rimewatch.CodeUnavailable, cause, "The receiver's TLS certificate is not valid.")
	case errors.As(err, &timeout) && timeout.Timeout():
		return rimewatch.Wrap(outcome(err), cause, "The receiver did not answer in time.")
	case errors.As(err, &op):
		return rimewatch.Wrap(outcome(err), cause, "The receiver cannot be reached: %s.", Reason(op.Err))
	case errors.Is(err, errTooLong):
		return rimewatch.Wrap(rimewatch.CodeConflict, cause, "The receiver's response is too long.")
	default:
		return rimewatch.Wrap(rimewatch.CodeOutcomeUnknown, cause, "The receiver did not accept the message.")
	}
}

// outcome is the code of an exchange that broke off: once there was a connection, nobody
// can say what came of it.
func outcome(err error) rimewatch.Code {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return rimewatch.CodeUnavailable
	}
	return rimewatch.CodeOutcomeUnknown
}

// Gone reports whether a receiver has said that what it was sent to does not exist, or
// not any more.
func Gone(err error) bool {
	var status *StatusError
	return errors.As(err, &status) && (status.Status == http.StatusNotFound || status.Status == http.StatusGone)
}

// Explain puts a receiver's own words, which says finds in the beginning of its answer,
// in place of a bare status; "" = there are none.
func Explain(err error, says func(body string) string) error {
	var status *StatusError
	if !errors.As(err, &status) || says(status.Body) == "" {
		return err
	}
	e := Failure(err)
	return &rimewatch.Error{Code: e.Code, RetryAfter: e.RetryAfter, Message: says(status.Body)}
}

// plainAnswer is how net/http says it; it has no other name.
const plainAnswer = "server gave HTTP response to HTTPS client"

var links = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*:(//|\\u002[fF])\S+`)

// Reason returns why there is no connection: a sentence, or an error that has none.
func Reason(err error) any {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return rimewatch.Sentencef("it refuses connections")
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return rimewatch.Sentencef("there is no route to its network")
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return rimewatch.Sentencef("it closed the connection")
	default:
		return err
	}
}

// ofStatus distinguishes passing failures (CodeUnavailable) from refusals
// (CodeConflict: most 4xx and redirects, which may also come from a proxy during a
// deployment) and from a receiver that is gone for good (CodeNotFound: 410).
func ofStatus(e *StatusError) *rimewatch.Error {
	text := rimewatch.Sentencef("The receiver answered %d.", e.Status)
	if name := http.StatusText(e.Status); name != "" {
		text = rimewatch.Sentencef("The receiver answered %d %s.", e.Status, name)
	}
	switch {
	case e.Status >= http.StatusMultipleChoices && e.Status < http.StatusBadRequest:
		return rimewatch.Errorf(rimewatch.CodeConflict, "%s Redirects are not followed.", text)
	case e.Status == http.StatusRequestTimeout, e.Status == http.StatusTooEarly, e.Status == http.StatusTooManyRequests, e.Status >= http.StatusInternalServerError:
		passing := rimewatch.Errorf(rimewatch.CodeUnavailable, "%s", text)
		passing.RetryAfter = e.RetryAfter
		return passing
	case e.Status == http.StatusGone:
		return rimewatch.Errorf(rimewatch.CodeNotFound, "%s", text)
	default:
		return rimewatch.Errorf(rimewatch.CodeConflict, "%s", text)
	}
}
