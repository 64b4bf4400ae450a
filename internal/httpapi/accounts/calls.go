package accounts

import (
	"context"
	"regexp"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/phrase"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// TokenRequestsInput names a page of the requests of a token.
type TokenRequestsInput struct {
	httpapi.IDInput
	Page    int64 `query:"page" minimum:"1" default:"1"`
	PerPage int64 `query:"per_page" minimum:"1" default:"15" doc:"More than 1000 is taken as 1000."`
}

// TokenRequestList are requests of a token.
type TokenRequestList struct {
	Summary    []RefusedRequests `json:"summary" doc:"All refused ones by their reason, the newest first."`
	Requests   []TokenCall       `json:"requests"`
	Pagination wire.Pagination   `json:"pagination"`
}

// TokenCall is a request of a token.
type TokenCall struct {
	At        rimewatch.Time    `json:"at" nullable:"false"`
	Method    string            `json:"method" doc:"Over MQTT CONNECT or PUBLISH."`
	Path      string            `json:"path" doc:"Of the route, with {names} in place of values; mqtt over MQTT; empty where there is none." example:"/v1/devices/{serial}"`
	Status    int               `json:"status"`
	Code      *string           `json:"code" doc:"null = it was not refused."`
	Fields    map[string]string `json:"fields" doc:"What was wrong with each field, with … for what was put into the text."`
	Bytes     int64             `json:"bytes" doc:"Of the body."`
	MS        int64             `json:"ms" doc:"How long the answer took."`
	RequestID string            `json:"request_id" doc:"Empty over MQTT."`
	Times     int               `json:"times" doc:"More than 1 where so many like it came within a minute that only their number is kept."`
}

// RefusedRequests are requests that were refused for one reason.
type RefusedRequests struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Status  int               `json:"status"`
	Code    string            `json:"code"`
	Fields  map[string]string `json:"fields"`
	Times   int               `json:"times"`
	FirstAt rimewatch.Time    `json:"first_at" nullable:"false"`
	LastAt  rimewatch.Time    `json:"last_at" nullable:"false"`
	Docs    string            `json:"docs" doc:"Where the code is explained."`
}

// verbs are the places in a text where something is put in.
var verbs = regexp.MustCompile(`%[-+# 0]*[\d.]*[a-zA-Z]`)

// reasons writes what is wrong with fields for whoever asks.
func reasons(words phrase.Words, fields map[string]string) map[string]string {
	out := make(map[string]string, len(fields))
	for name, format := range fields {
		out[name] = strings.ReplaceAll(verbs.ReplaceAllLiteralString(words.Say(format), "…"), "%%", "%")
	}
	return out
}

func (a people) tokenRequests(ctx context.Context, in *TokenRequestsInput) (TokenRequestList, error) {
	c := httpapi.CallOf(ctx)
	list, err := a.service.TokenCalls(ctx, c.Principal, in.Number(), c.Now)
	if err != nil {
		return TokenRequestList{}, err
	}
	words := c.Words()
	page := httpapi.PageInput{Page: in.Page, PerPage: in.PerPage}
	from := min(page.Offset(), len(list))
	shown := list[from:min(from+page.Size(), len(list))]
	out := TokenRequestList{Summary: summary(words, list), Requests: make([]TokenCall, len(shown)), Pagination: c.Pagination(&page, len(shown), len(list))}
	for i := range shown {
		x := &shown[i]
		out.Requests[i] = TokenCall{x.At, x.Method, x.Path, x.Status, wire.OrNull(string(x.Code)), reasons(words, x.Fields), x.Bytes, x.MS, x.RequestID, x.Times}
	}
	return out, nil
}

// summary counts what was refused, by its reason.
func summary(words phrase.Words, list []rimewatch.TokenCall) []RefusedRequests {
	out := []RefusedRequests{}
	var first []*rimewatch.TokenCall // of each reason
	for i := range list {
		x := &list[i]
		if !x.Refused() {
			continue
		}
		at := 0
		for at < len(first) && !first[at].Like(x) {
			at++
		}
		if at == len(first) {
			first = append(first, x)
			out = append(out, RefusedRequests{x.Method, x.Path, x.Status, string(x.Code), reasons(words, x.Fields), 0, x.At, x.At, wire.ErrorDocs + string(x.Code)})
		}
		out[at].Times += x.Times
		out[at].FirstAt = x.At
	}
	return out
}
