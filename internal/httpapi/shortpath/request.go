package shortpath

import (
	"bytes"
	"net"
)

var (
	crlf      = []byte("\r\n")
	endOfHead = []byte("\r\n\r\n")
)

// Request is a plain POST of JSON. What is in bytes points into the connection's
// buffer.
type Request struct {
	Token        string // of Authorization: Bearer
	ID           []byte // X-Request-Id as it was sent, nil without one
	ForwardedFor []byte // X-Forwarded-For, nil without one
	Body         []byte // not empty
	Remote       net.Addr

	length int // of Body
	sent   address
}

// parse reads the header lines of a plain POST. It reports false for one that has
// to go to net/http.
func (q *Request) parse(lines []byte) bool {
	*q = Request{Token: q.Token, length: -1}
	var token []byte
	host, json := false, false
	for len(lines) > 0 {
		var name, value []byte
		var ok bool
		if name, value, lines, ok = headerLine(lines); !ok || !visible(value) {
			return false
		}
		switch {
		case is(name, "host"):
			ok = !host && plainHost(value)
			host = true
		case is(name, "authorization"):
			ok = token == nil && len(value) > 7 && is(value[:7], "bearer ")
			if ok {
				token = bytes.Trim(value[7:], " ")
			}
		case is(name, "content-type"):
			ok = !json && is(value, "application/json")
			json = true
		case is(name, "content-length"):
			ok = q.length < 0
			if ok {
				q.length, ok = number(value, 4)
			}
		case is(name, "x-request-id"):
			ok = q.ID == nil && len(value) > 0
			q.ID = value
		case is(name, "x-forwarded-for"):
			ok = q.ForwardedFor == nil && len(value) > 0
			q.ForwardedFor = value
		case is(name, "connection"):
			ok = is(value, "keep-alive")
		case is(name, "accept"):
			ok = !bytes.Contains(value, []byte("problem")) // errors in another form
		default:
			ok = meaningless(name)
		}
		if !ok {
			return false
		}
	}
	if string(token) != q.Token { // devices send the same one each time
		q.Token = string(token)
	}
	return host && json && len(token) > 0 && q.length > 0
}

// meaningless reports whether a header says nothing about how a plain POST is
// answered.
func meaningless(name []byte) bool {
	return is(name, "user-agent") || is(name, "accept-encoding") || is(name, "accept-language") ||
		is(name, "x-forwarded-proto") || is(name, "x-forwarded-host") || is(name, "x-forwarded-port") || is(name, "x-real-ip") ||
		is(name, "forwarded") || is(name, "traceparent")
}

// framed returns the length of the body of an odd request. One that is chunked, asks
// for an upgrade or is not well formed is final; one that says in two ways how long
// it is is twofold.
func framed(head []byte) (what kind, length int) {
	line := bytes.IndexByte(head, '\n') + 1
	if line == 0 || !requestLine(head[:line]) || bytes.HasPrefix(head, []byte("CONNECT ")) {
		return final, 0
	}
	what = odd
	sized, coded := false, false
	for lines := head[line:]; len(lines) > 0; {
		var name, value []byte
		var ok bool
		if name, value, lines, ok = headerLine(lines); !ok || !token(name) {
			return final, 0
		}
		switch {
		case is(name, "content-length"):
			n, isNumber := number(value, 15)
			if sized || !isNumber {
				what = final
			}
			sized, length = true, n
		case is(name, "transfer-encoding"):
			what, coded = final, true
		case is(name, "upgrade"):
			what = final
		case is(name, "connection"):
			if bytes.Contains(bytes.ToLower(value), []byte("upgrade")) {
				what = final
			}
		}
	}
	if sized && coded {
		return twofold, 0
	}
	return what, length
}

// requestLine reports whether a line, with its end, may be the request line of
// HTTP/1.1.
func requestLine(line []byte) bool { return bytes.HasSuffix(line, []byte(" HTTP/1.1\r\n")) }

// headerLine cuts the first line off the header lines.
func headerLine(lines []byte) (name, value, rest []byte, ok bool) {
	i := bytes.IndexByte(lines, '\n')
	if i < 1 || lines[i-1] != '\r' {
		return nil, nil, nil, false
	}
	line := lines[:i-1]
	colon := bytes.IndexByte(line, ':')
	if colon < 1 {
		return nil, nil, nil, false
	}
	return line[:colon], bytes.Trim(line[colon+1:], " \t"), lines[i+1:], true
}

// is compares without case; want is in lower case.
func is(b []byte, want string) bool {
	if len(b) != len(want) {
		return false
	}
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != want[i] {
			return false
		}
	}
	return true
}

// visible reports whether a header value is visible ASCII and spaces.
func visible(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// token reports whether a name consists of letters, digits and what else RFC 9110,
// 5.6.2 allows.
func token(b []byte) bool {
	for _, c := range b {
		if !alphanumeric(c) && bytes.IndexByte([]byte("!#$%&'*+-.^_`|~"), c) < 0 {
			return false
		}
	}
	return len(b) > 0
}

// plainHost reports whether a Host is a name or an address, with a port or not.
func plainHost(b []byte) bool {
	for _, c := range b {
		if !alphanumeric(c) && bytes.IndexByte([]byte("-._:[]"), c) < 0 {
			return false
		}
	}
	return len(b) > 0
}

func alphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// number reads a number of at most so many digits.
func number(b []byte, digits int) (n int, ok bool) {
	if len(b) == 0 || len(b) > digits {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}
