package httpapi

import (
	"net/http"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
)

// Called keeps a request of a token, to find faults of programs: each that was refused with e, and some of the others.
// path is that of the route. Requests of people, and those without a token, are not kept.
func (a *API) Called(p *account.Principal, e *rimewatch.Error, x *CalledWith) {
	if p.TokenID == 0 || e == nil && !a.cfg.Auth.Counts(p) {
		return
	}
	status := x.Status
	if status == 0 {
		status = http.StatusOK
		if e != nil {
			status = StatusOf[e.Code]
		}
	}
	c := rimewatch.TokenCall{
		WorkspaceID: p.WorkspaceID, TokenID: p.TokenID, At: x.At, Method: x.Method, Path: x.Path, Status: status,
		Bytes: max(0, x.Bytes), MS: x.Took.Milliseconds(), RequestID: x.RequestID,
	}
	if e != nil {
		c.Code, c.Fields = e.Code, e.Reasons()
	}
	a.cfg.Auth.Called(c)
}

// CalledWith are the facts of a request.
type CalledWith struct {
	At           rimewatch.Time
	Method, Path string
	Status       int   // 0 = that of the code, or 200
	Bytes        int64 // of the body, -1 = not known
	Took         time.Duration
	RequestID    string
}

// called keeps the request that a call was.
func (a *API) called(c *Call, status int, took time.Duration) {
	if c.Principal.TokenID == 0 {
		return
	}
	x := CalledWith{At: c.Now, Method: c.R.Method, Status: status, Bytes: max(c.R.ContentLength, int64(len(c.body))), Took: took, RequestID: c.ID}
	if c.route != nil {
		x.Path = c.route.Path
	}
	a.Called(&c.Principal, c.failed, &x)
}
