package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
)

// Request is a call for which there is no method, such as GET of /contacts.
type Request struct {
	Method, Path string // the path below /api/v1
	Query        url.Values
	Body         any    // written as JSON; nil = none
	IfMatch      string // ETag of an earlier answer: CodePreconditionFailed when the thing was changed since
	// Merge changes only the members in the body of a PATCH, labels too, and removes those that are null (RFC 7396).
	Merge bool
}

// Answer is the data of an answer.
type Answer struct {
	Data json.RawMessage
	ETag string // of a thing that people set; "" = it has none
}

// Call makes a call with the retries of all calls. *Error and errors of the connection.
func (c *Client) Call(ctx context.Context, r Request) (Answer, error) {
	call := &call{method: r.Method, path: "/api/v1" + r.Path, idempotent: r.Method != http.MethodPost}
	if r.Body != nil {
		call = send(r.Method, r.Path, r.Body, call.idempotent)
	}
	if r.Merge {
		call.contentType = "application/merge-patch+json"
	}
	call.query, call.ifMatch = r.Query, r.IfMatch
	data, header, err := answered[json.RawMessage](ctx, c, call)
	return Answer{data, header.Get("ETag")}, err
}
