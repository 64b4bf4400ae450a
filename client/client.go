package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Options of a Client. The zero value of every one is good.
type Options struct {
	HTTP       *http.Client  // default: one that keeps as many connections as are used
	UserAgent  string        // default "rimewatch-go"
	Retries    int           // tries after the first; default 4, negative = none
	MinBackoff time.Duration // wait before the first retry, doubling; default 200 ms
	MaxBackoff time.Duration // default 5 s
	// MaxWait is the longest Retry-After that is waited for; a longer one ends
	// the call. Default 1 min.
	MaxWait time.Duration
	// Encoding compresses batches and imports of more than a kilobyte; nil = none.
	Encoding *Encoding

	sleep func(context.Context, time.Duration) error // for tests
}

// Client speaks to one workspace of one service. It is safe for concurrent use.
type Client struct {
	root  string // scheme, host and path without /api
	token string
	o     Options
}

// New makes a client. baseURL is the service's address, with or without the
// path prefix /api. An empty token will do for policies and health checks.
func New(baseURL, token string, o *Options) (*Client, error) {
	u, err := url.Parse(baseURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, fmt.Errorf("%q is not a URL such as http://127.0.0.1:8080", baseURL)
	}
	c := &Client{root: u.Scheme + "://" + u.Host + strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/api"), token: token}
	if o != nil {
		c.o = *o
	}
	c.o.defaults()
	return c, nil
}

func (o *Options) defaults() {
	if o.HTTP == nil {
		t := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}
		if usual, ok := http.DefaultTransport.(*http.Transport); ok { // programs may have put another one there
			t = usual.Clone()
		}
		t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, 1024
		t.ResponseHeaderTimeout = 30 * time.Second
		o.HTTP = &http.Client{Transport: t}
	}
	if o.UserAgent == "" {
		o.UserAgent = "rimewatch-go"
	}
	if o.Retries == 0 {
		o.Retries = 4
	}
	if o.MinBackoff <= 0 {
		o.MinBackoff = 200 * time.Millisecond
	}
	if o.MaxBackoff <= 0 {
		o.MaxBackoff = 5 * time.Second
	}
	if o.MaxWait <= 0 {
		o.MaxWait = time.Minute
	}
	if o.sleep == nil {
		o.sleep = sleep
	}
}

// BaseURL is where the API lives, without a slash at the end.
func (c *Client) BaseURL() string { return c.root + "/api" }

// call is one request in the making.
type call struct {
	method, path string // the path from the root of the service
	query        url.Values
	accept       string
	contentType  string
	body         []byte
	encoding     string
	idempotent   bool   // may safely happen twice
	readings     bool   // brings readings, which come too often for a key each
	key          string // Idempotency-Key, "" = none
	ifMatch      string // "" = none
	broken       error  // why it cannot be made
}

type keyOf struct{}

// WithIdempotencyKey makes the calls that change something, and are given ctx,
// bear a key of 1 to 255 visible ASCII characters that no other call of the token
// has within 24 h: a call that is made again with it, by the client's own retries or
// after a restart, is carried out once and answered as before. Calls that create
// something bear a random key without it, but for readings without a time.
func WithIdempotencyKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, keyOf{}, key)
}

// sign adds an Idempotency-Key to a call that may not happen twice.
func (call *call) sign(ctx context.Context) {
	if call.method != http.MethodPost {
		return
	}
	key, given := ctx.Value(keyOf{}).(string)
	if !given && !call.idempotent && !call.readings {
		key = rand.Text()
	}
	call.key = key
	call.idempotent = call.idempotent || key != ""
}

func get(path string, query url.Values) *call {
	return &call{method: http.MethodGet, path: "/api/v1" + path, query: query, idempotent: true}
}

// post makes a call that says all in its path.
func post(path string) *call {
	return &call{method: http.MethodPost, path: "/api/v1" + path}
}

// remove deletes the thing of a path.
func remove(ctx context.Context, c *Client, path string) error {
	call := get(path, nil)
	call.method = http.MethodDelete
	_, err := fetch[json.RawMessage](ctx, c, call)
	return err
}

// orEnded returns the query of a list that leaves out ended things, unless asked.
func orEnded(ended bool) url.Values {
	q := url.Values{}
	if ended {
		q.Set("ended", "true")
	}
	return q
}

// send makes a call with a JSON body.
func send(method, path string, body any, idempotent bool) *call {
	b, err := json.Marshal(body)
	if err != nil {
		err = fmt.Errorf("%s %s: %w", method, path, err)
	}
	return &call{method: method, path: "/api/v1" + path, body: b, contentType: typeJSON, idempotent: idempotent, broken: err}
}

const (
	typeJSON   = "application/json"
	typeNDJSON = "application/x-ndjson"
	typeCSV    = "text/csv"
)

// do makes a call until it succeeds, fails for good or runs out of tries. The
// caller closes the body of the answer.
func (c *Client) do(ctx context.Context, call *call) (*http.Response, error) {
	if call.broken != nil {
		return nil, call.broken
	}
	if call.key == "" {
		call.sign(ctx)
	}
	for try := 0; ; try++ {
		resp, err := c.once(ctx, call)
		if err == nil {
			return resp, nil
		}
		wait, again := c.o.again(call, err, try)
		if !again || ctx.Err() != nil {
			return nil, err
		}
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait {
			return nil, err
		}
		if c.o.sleep(ctx, wait) != nil {
			return nil, err
		}
	}
}

// once makes a call once: an answer of success, or an error.
func (c *Client) once(ctx context.Context, call *call) (*http.Response, error) {
	target := c.root + call.path
	if len(call.query) > 0 {
		target += "?" + call.query.Encode()
	}
	var body io.Reader
	if call.body != nil {
		body = bytes.NewReader(call.body)
	}
	req, err := http.NewRequestWithContext(ctx, call.method, target, body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", call.method, call.path, err)
	}
	h := req.Header
	h.Set("User-Agent", c.o.UserAgent)
	if c.token != "" {
		h.Set("Authorization", "Bearer "+c.token)
	}
	if call.accept != "" {
		h.Set("Accept", call.accept)
	}
	if call.key != "" {
		h.Set("Idempotency-Key", call.key)
	}
	if call.ifMatch != "" {
		h.Set("If-Match", call.ifMatch)
	}
	if call.body != nil {
		h.Set("Content-Type", call.contentType)
		if call.encoding != "" {
			h.Set("Content-Encoding", call.encoding)
		}
	}
	resp, err := c.o.HTTP.Do(req)
	if err != nil {
		return nil, err // names method and URL already
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer drain(resp)
	return nil, readError(call, resp)
}

// drain lets the connection be used again.
func drain(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10)
	_ = resp.Body.Close()
}

// errNotTheAPI means that a server answered with success that is not the service.
var errNotTheAPI = errors.New("the answer is not in the form of the API")

// maxAnswer bounds an answer that is read as a whole.
const maxAnswer = 256 << 20

// fetch makes a call and returns the data of the answer.
func fetch[T any](ctx context.Context, c *Client, call *call) (data T, err error) {
	data, _, err = answered[T](ctx, c, call)
	return data, err
}

// answered makes a call and returns the data of the answer with its header. An answer
// that breaks off counts as a broken connection.
func answered[T any](ctx context.Context, c *Client, call *call) (data T, header http.Header, err error) {
	for try := 0; ; try++ {
		resp, err := c.do(ctx, call)
		if err != nil {
			return data, nil, err
		}
		b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
		drain(resp)
		if err != nil {
			wait, again := c.o.again(call, err, try)
			if again && ctx.Err() == nil && c.o.sleep(ctx, wait) == nil {
				continue
			}
			return data, nil, fmt.Errorf("%s %s: read the answer: %w", call.method, call.path, err)
		}
		var envelope struct {
			Success bool `json:"success"`
			Data    *T   `json:"data"`
		}
		envelope.Data = &data
		if err := json.Unmarshal(b, &envelope); err != nil {
			return data, nil, fmt.Errorf("%s %s: %w: %w", call.method, call.path, errNotTheAPI, err)
		}
		if !envelope.Success || envelope.Data == nil {
			return data, nil, fmt.Errorf("%s %s: %w", call.method, call.path, errNotTheAPI)
		}
		return data, resp.Header, nil
	}
}

// one makes a call and returns the value of that name in the data of the answer.
func one[T any](ctx context.Context, c *Client, call *call, name string) (value T, err error) {
	data, err := fetch[map[string]json.RawMessage](ctx, c, call)
	if err != nil || data[name] == nil {
		return value, err
	}
	if err := json.Unmarshal(data[name], &value); err != nil {
		return value, fmt.Errorf("%s %s: %w: %w", call.method, call.path, errNotTheAPI, err)
	}
	return value, nil
}

// Error is an answer of the service that is not a success.
type Error struct {
	Status    int              // HTTP
	RequestID string           // to be found in the service's log; "" from a gateway
	Docs      string           // where the code is explained, "" from a gateway or an older service
	Failure   *rimewatch.Error // code, message, fields, Retry-After
	gateway   bool             // not the service itself
}

// Error names code, message, fields and request.
func (e *Error) Error() string {
	b := &strings.Builder{}
	b.WriteString(strings.TrimSuffix(e.Failure.Message, "."))
	for _, f := range sortedKeys(e.Failure.Fields) {
		fmt.Fprintf(b, "; %s %s", f, strings.Join(e.Failure.Fields[f], ", "))
	}
	fmt.Fprintf(b, " (%d %s", e.Status, e.Failure.Code)
	if e.RequestID != "" {
		fmt.Fprintf(b, ", request %s", e.RequestID)
	}
	b.WriteByte(')')
	return b.String()
}

// Unwrap lets errors.As and rimewatch.CodeOf find the *rimewatch.Error.
func (e *Error) Unwrap() error { return e.Failure }

// StatusOf is the HTTP status of an error of this package, 0 when the service
// did not answer.
func StatusOf(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.Status
	}
	return 0
}

// readError turns an answer that is not a success into an *Error.
func readError(call *call, resp *http.Response) error {
	e := &Error{Status: resp.StatusCode, RequestID: resp.Header.Get("X-Request-Id"), Failure: new(rimewatch.Error)}
	var envelope struct {
		Error *struct {
			Code    rimewatch.Code      `json:"code"`
			Message string              `json:"message"`
			Fields  map[string][]string `json:"fields"`
			Docs    string              `json:"docs"`
		} `json:"error"`
	}
	b, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if json.Unmarshal(b, &envelope) == nil && envelope.Error != nil && envelope.Error.Code != "" {
		e.Failure.Code, e.Failure.Message, e.Failure.Fields = envelope.Error.Code, envelope.Error.Message, envelope.Error.Fields
		if at, err := resp.Request.URL.Parse(envelope.Error.Docs); err == nil && envelope.Error.Docs != "" {
			e.Docs = at.String()
		}
	} else {
		e.gateway = true
		e.Failure.Code = rimewatch.CodeInternal
		if resp.StatusCode >= 502 && resp.StatusCode <= 504 {
			e.Failure.Code = rimewatch.CodeUnavailable
		}
		e.Failure.Message = fmt.Sprintf("%s %s was answered with %s, but not by Rimewatch", call.method, call.path, resp.Status)
	}
	e.Failure.RetryAfter = retryAfter(resp.Header.Get("Retry-After"), resp.Header.Get("Date"))
	return e
}
