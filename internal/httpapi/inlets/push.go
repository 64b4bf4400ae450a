package inlets

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/inlet"
	"github.com/rimewatch/rimewatch/internal/source"
)

// plain adds the paths of the senders.
func (a *api) plain() {
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodGet} {
		a.Plain(method, "/in/{key}", a.webhook)
	}
	a.Plain(http.MethodHead, "/in/{key}", notHead)
	a.Plain(http.MethodPost, "/api/v2/write", a.influx)
	a.Plain(http.MethodPost, "/write", a.influx)
	a.Plain(http.MethodGet, "/ping", ping)
	a.Plain(http.MethodGet, "/health", health)
}

// webhook takes a payload of any sender. The key stands in the path, because many
// senders cannot send headers.
func (a *api) webhook(c *httpapi.Call) error {
	c.Header("Cache-Control", "no-store")
	src, err := a.sources.ByKey(c.R.Context(), c.R.PathValue("key"))
	if err != nil {
		return a.refused(c, err)
	}
	body, err := a.Take(c, src.Workspace(), httpapi.Door{Most: httpapi.MaxSingleBody}) // package inlet checks it
	if err != nil {
		return err
	}
	query, e := queryOf(c.R.URL.RawQuery)
	if e != nil {
		return e
	}
	if c.R.Method == http.MethodGet {
		body = nil
		if len(query) == 0 {
			return rimewatch.Errorf(rimewatch.CodeInvalidJSON, "A GET needs its values as query parameters.")
		}
	} else if isForm(c.R.Header, body) {
		form, e := queryOf(string(body))
		if e != nil {
			return e
		}
		for k, v := range form {
			query[k] = v
		}
		body = nil
	}
	o, err := a.sources.Receive(c.R.Context(), src, &inlet.Payload{Body: body, Query: query})
	if err != nil {
		return err
	}
	status := http.StatusOK
	if o.Created {
		status = http.StatusCreated
	}
	return c.Data(status, o.In(c.Words().Say))
}

// notHead refuses HEAD, which the router would take for the GET that stores a
// reading: link checkers send it.
func notHead(c *httpapi.Call) error {
	const allow = "GET, POST, PUT"
	c.Header("Allow", allow)
	return rimewatch.Errorf(rimewatch.CodeMethodNotAllowed, "This path accepts %s.", allow)
}

// refused counts a wrong key against its address, as a wrong token is.
func (a *api) refused(c *httpapi.Call, err error) error {
	if rimewatch.CodeOf(err) != rimewatch.CodeUnauthenticated {
		return err
	}
	if wait := a.AuthFailures.Fail(a.ClientAddr(c.R), c.Now); wait > 0 {
		return httpapi.ErrTooManyFailures(wait)
	}
	return err
}

// Bounds of a query.
const (
	maxParameters = 50
	maxQuery      = 8 << 10
)

// queryOf reads parameters; of one that is repeated the first counts.
func queryOf(raw string) (map[string]string, *rimewatch.Error) {
	values, err := url.ParseQuery(raw)
	if err != nil || len(raw) > maxQuery || len(values) > maxParameters {
		return nil, rimewatch.Errorf(rimewatch.CodeInvalidJSON, "The query parameters cannot be read.")
	}
	query := make(map[string]string, len(values))
	for k := range values {
		query[strings.ToValidUTF8(k, "")] = strings.ToValidUTF8(values.Get(k), "")
	}
	return query, nil
}

// isForm reports whether a body is a form. Many clients say that of JSON too.
func isForm(h http.Header, body []byte) bool {
	body = bytes.TrimSpace(body)
	return strings.HasPrefix(h.Get("Content-Type"), "application/x-www-form-urlencoded") && len(body) > 0 && body[0] != '{' && body[0] != '['
}

// influx takes line protocol. It is answered as InfluxDB answers: 204, or an
// error of its form.
func (a *api) influx(c *httpapi.Call) error {
	c.Header("X-Influxdb-Version", influxVersion)
	c.Header("Cache-Control", "no-store")
	src, p, err := Open(c.R.Context(), a.Auth(), a.sources, InfluxKey(c.R), c.Now)
	c.Principal = p
	if err != nil {
		return influxError(c, a.refused(c, err))
	}
	body, err := a.Take(c, src.Workspace(), httpapi.Door{}) // lines
	if err != nil {
		return influxError(c, err)
	}
	o, err := a.sources.ReceiveLines(c.R.Context(), src, body, c.R.URL.Query().Get("precision"))
	if err == nil && o.Rejected > 0 {
		err = rimewatch.Errorf(rimewatch.CodeInvalidJSON, "partial write: %s dropped=%d", strings.Join(o.In(c.Words().Say).Problems, "; "), o.Rejected)
	}
	if err != nil {
		return influxError(c, err)
	}
	c.W.WriteHeader(http.StatusNoContent)
	return nil
}

// influxVersion is the version that we report to clients.
const influxVersion = "2.7-rimewatch"

// Authenticator knows API tokens.
type Authenticator interface {
	Authenticate(ctx context.Context, secret string, now rimewatch.Time) (account.Principal, error)
}

// Open finds the source of a secret, which is its key, or an API token that may
// write readings. p is whose token it is, also where that may not; zero for a key.
func Open(ctx context.Context, auth Authenticator, sources *source.Service, secret string, now rimewatch.Time) (src *source.Live, p account.Principal, err error) {
	if !strings.HasPrefix(secret, rimewatch.TokenPrefix) {
		src, err = sources.ByKey(ctx, secret)
		return src, p, err
	}
	if p, err = auth.Authenticate(ctx, secret, now); err != nil {
		return nil, p, err
	}
	if err := p.Require(rimewatch.ScopeReadingsWrite); err != nil {
		return nil, p, err
	}
	src, err = sources.OfAPI(ctx, p.WorkspaceID, source.Opener{TokenID: p.TokenID, Sites: p.Limit})
	return src, p, err
}

// InfluxKey returns the secret of a write, wherever its client has put it.
func InfluxKey(r *http.Request) string {
	scheme, value, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "token") || strings.EqualFold(scheme, "bearer") {
		return strings.TrimSpace(value)
	}
	if user, password, ok := r.BasicAuth(); ok {
		if password == "" {
			return user
		}
		return password
	}
	return r.URL.Query().Get("p")
}

// influxError answers as both versions of InfluxDB do.
func influxError(c *httpapi.Call, err error) error {
	e := httpapi.AsError(err)
	if e.Code == rimewatch.CodeInternal {
		return err
	}
	code := map[rimewatch.Code]string{ // InfluxDB's words; the status is ours
		rimewatch.CodeUnauthenticated: "unauthorized", rimewatch.CodeForbidden: "forbidden", rimewatch.CodePayloadTooLarge: "request too large",
		rimewatch.CodeUnavailable: "unavailable", rimewatch.CodeRateLimited: "too many requests", rimewatch.CodeHeldFull: "too many requests",
	}[e.Code]
	if code == "" {
		code = "invalid"
	}
	message := e.Message
	for field, problems := range e.Fields {
		message += " " + field + ": " + strings.Join(problems, "; ")
	}
	status := httpapi.StatusOf[e.Code]
	if code == "invalid" {
		status = http.StatusBadRequest // 422 is not among those that clients know
	}
	b, err := json.Marshal(map[string]string{"code": code, "message": message, "error": message})
	if err != nil {
		return err
	}
	c.Refused(e)
	httpapi.FailureHeaders(c.W.Header(), e)
	c.W.WriteHeader(status)
	_, _ = c.W.Write(append(b, '\n'))
	return nil
}

// ping answers those who ask whether an InfluxDB is here.
func ping(c *httpapi.Call) error {
	c.Header("X-Influxdb-Version", influxVersion)
	c.Header("X-Influxdb-Build", "OSS")
	c.W.WriteHeader(http.StatusNoContent)
	return nil
}

func health(c *httpapi.Call) error {
	c.Header("X-Influxdb-Version", influxVersion)
	c.Header("Content-Type", httpapi.TypeJSON)
	_, _ = c.W.Write([]byte(`{"name":"influxdb","message":"ready for queries and writes","status":"pass","checks":[],"version":"` + influxVersion + `"}` + "\n"))
	return nil
}
