package httpapi

import (
	"context"
	"net/http"
	"net/url"

	"github.com/rimewatch/rimewatch"
)

// Inner answers a GET route of the API into w, for the caller of c and with that
// caller's rights, as a part of the answer to c. path names the route as the table
// does; serial and the like stand in values.
func (a *API) Inner(c *Call, path string, values map[string]string, query url.Values, accept string, w http.ResponseWriter) *rimewatch.Error {
	rt := a.find(http.MethodGet, path)
	if rt == nil {
		return errNoSuchPath()
	}
	inner := &Call{ID: c.ID, Now: c.Now, route: rt, Principal: c.Principal, W: w}
	r := (&http.Request{
		Method: http.MethodGet, Host: c.R.Host, Proto: c.R.Proto, ProtoMajor: 1, ProtoMinor: 1, RemoteAddr: c.R.RemoteAddr, Body: http.NoBody,
		Header: http.Header{"Accept": {accept}}, URL: &url.URL{Path: Prefix + path, RawQuery: query.Encode()},
	}).WithContext(context.WithValue(c.R.Context(), callKey{}, inner))
	for name, v := range values {
		r.SetPathValue(name, v)
	}
	inner.R = r
	if e := rt.admits(&c.Principal, r); e != nil {
		return e
	}
	if e := a.checkFields(inner); e != nil {
		return e
	}
	rt.serve.ServeHTTP(w, r)
	return nil
}

func (a *API) find(method, path string) *Route {
	for i := range a.routes {
		if rt := &a.routes[i]; rt.Method == method && rt.Path == path {
			return rt
		}
	}
	return nil
}
