package httpapi

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// humaBase gives the embedded context a name that is not that of its method.
type humaBase = huma.Context

// humaContext shows huma a request that was already read and checked.
type humaContext struct {
	humaBase
	c *Call
}

func newHumaContext(op *huma.Operation, w http.ResponseWriter, r *http.Request) huma.Context {
	return humaContext{humago.NewContext(op, r, w), CallOf(r.Context())}
}

// Query returns a checked parameter.
func (h humaContext) Query(name string) string { return h.c.Query.Get(name) }

// Header hides the content type: the body is known to be JSON.
func (h humaContext) Header(name string) string {
	switch name {
	case "Content-Type", "Accept":
		return TypeJSON
	default:
		return h.humaBase.Header(name)
	}
}

// BodyReader returns the body that was read.
func (h humaContext) BodyReader() io.Reader { return bytes.NewReader(h.c.body) }

// SetReadDeadline does nothing: the body is there.
func (h humaContext) SetReadDeadline(time.Time) error { return nil }

// rawJSON is an answer that is already encoded.
type rawJSON []byte

// answerProblem is a huma transformer: it turns a handler's error into the
// error envelope with its headers.
func (a *API) answerProblem(ctx huma.Context, _ string, v any) (any, error) {
	p, ok := v.(problem)
	if !ok {
		own, refused := v.(huma.StatusError)
		if !refused {
			return v, nil
		}
		p = problem{err: refusal(own)}
	}
	c := CallOf(ctx.Context())
	a.LogFailure(c.R.Method, c.R.URL.Path, c.ID, p.err)
	FailureHeaders(c.W.Header(), p.err)
	return rawJSON(wire.AppendFailure(nil, c.Shown(p.err), c.ID)), nil
}

// refusal gives what huma itself refuses the envelope, too. Our checks come
// before huma's, so this is what they should have found.
func refusal(e huma.StatusError) *rimewatch.Error {
	if e.GetStatus() >= http.StatusInternalServerError {
		return rimewatch.Wrap(rimewatch.CodeInternal, e, "The service failed.")
	}
	return rimewatch.Wrap(rimewatch.CodeValidationFailed, e, "The request has invalid fields.")
}

func marshalJSON(w io.Writer, v any) error {
	b, ok := v.(rawJSON)
	if !ok {
		var err error
		if b, err = wire.AppendJSON(nil, v); err != nil {
			return err
		}
		b = append(b, '\n')
	}
	_, _ = w.Write(b) // a client that went away is no failure of ours
	return nil
}

func newHuma(a *API, d huma.Adapter) huma.API {
	return huma.NewAPI(huma.Config{
		OpenAPI:       newDocument(a.cfg.Version, a.cfg.PublicURL, a.aliases),
		Formats:       map[string]huma.Format{TypeJSON: {Marshal: marshalJSON, Unmarshal: json.Unmarshal}},
		DefaultFormat: TypeJSON,
		Transformers:  []huma.Transformer{a.answerProblem},
	}, d)
}
