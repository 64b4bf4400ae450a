package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
)

// Any makes a call for which there is no method, such as GET of /contacts, with the retries of
// all calls, and returns the data of the answer. The path is below /api/v1; body is written as
// JSON, nil = none. *Error and errors of the connection.
func (c *Client) Any(ctx context.Context, method, path string, query url.Values, body any) (json.RawMessage, error) {
	call := &call{method: method, path: "/api/v1" + path, idempotent: method != http.MethodPost}
	if body != nil {
		call = send(method, path, body, call.idempotent)
	}
	call.query = query
	return fetch[json.RawMessage](ctx, c, call)
}
