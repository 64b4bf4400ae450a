package httpapi

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// document is the served OpenAPI description.
type document struct {
	json []byte
	etag string
}

const apiIntro = `The REST API of Rimewatch, which watches commercial refrigeration.

**Answers.** Every JSON answer has ` + "`success`" + ` (boolean) and ` + "`data`" + ` (object); a failure also has ` + "`error`" + ` with ` + "`code`, `message`, `fields`, `request_id` and `docs`, the address of what explains the code" + `. Decide by the code; the texts are for people and follow ` + "`Accept-Language`" + ` (English without it, and always for what devices send). Every answer carries ` + "`X-Request-Id`" + `; a request may bring its own.

**Units.** °C, %RH, V RMS, A RMS, mm/s RMS. Times are RFC 3339 in UTC with milliseconds.

**Requests.** UTF-8 JSON without duplicate keys. Fields that a body does not know are refused with 422, so that a misspelt one does not vanish; unknown query parameters are ignored and named in ` + "`data.warnings`" + `. An empty filter is an absent one, and a slash at the end of a path is ignored. Bodies may be compressed with gzip or zstd; the limits hold after decompression: 1 MiB, and 16 MiB for batches and imports. Answers of more than 1 KiB are compressed for clients that accept gzip or zstd. Checks run in this order: route, method, authentication, scope, rate, content type, size, JSON, fields, existence.

**Changes.** An answer about one thing of those that people make has its revision as ` + "`ETag`" + `, which grows with each change. ` + "`If-Match`" + ` with it changes or deletes the thing only as it was read: 412 otherwise.

**Limits.** Per token 6,000 requests a minute with bursts of 1,000, if the operator has not set another number; never more at once than a minute has. Heartbeats and single readings are limited per device instead: 120 a minute with bursts of 1,000. The header ` + "`RateLimit-Policy` names the limit that counts as `q` requests in `w` seconds, `RateLimit` how many of these are left (`r`) and in how many seconds none is missing (`t`)" + `. Failed authentications: 20 a minute per address. Refusals have ` + "`Retry-After`" + `.

**Versions.** v1 only grows: new fields, endpoints and values of open enumerations (` + "`x-extensible-enum`" + `) may appear. Clients ignore what they do not know. Nothing is renamed or removed unless it was announced a year before: ` + "`deprecated` and `x-sunset`" + ` here, ` + "`Deprecation`, `Sunset` and `Link`" + ` in the header of answers.`

func newDocument(version, publicURL string, aliases []alias) *huma.OpenAPI {
	if version == "" {
		version = "dev"
	}
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	for _, a := range aliases {
		registry.RegisterTypeAlias(a.shape, a.description)
	}
	return &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "Rimewatch API", Version: version, Description: apiIntro,
			License: &huma.License{Name: "Apache-2.0", URL: "https://www.apache.org/licenses/LICENSE-2.0"},
		},
		Servers: []*huma.Server{{URL: strings.TrimSuffix(publicURL, "/") + Prefix}},
		Tags: []*huma.Tag{
			{Name: "Devices", Description: "The devices being monitored."},
			{Name: "Readings", Description: "What devices measure."},
			{Name: "Alerts", Description: "What is wrong, or about to be."},
			{Name: "Sources", Description: "Ways in for what does not speak this API, and the senders that wait there."},
			{Name: "Records", Description: "What inspectors ask for: excursions, corrective actions, calibrations and reports."},
			{Name: "Notifications", Description: "Who is notified of alerts."},
			{Name: "Health", Description: "The state of the fleet."},
			{Name: "Real time", Description: "Events as they happen."},
			{Name: "Events", Description: "What happened, for programs: the feed, and the webhooks that it is sent to."},
			{Name: "Workspace", Description: "Settings, sites, members and API tokens."},
			{Name: "Sandbox", Description: "A workspace with simulated devices, to try a program in."},
			{Name: "Account", Description: "Signing in, and a user's own settings."},
			{Name: "Policies", Description: "Documents for the public."},
		},
		Components: &huma.Components{
			Schemas: registry,
			SecuritySchemes: map[string]*huma.SecurityScheme{
				"token":   {Type: "http", Scheme: "bearer", Description: "An API token (`rw_…`), made in the account settings or by `rimewatch token create`."},
				"session": {Type: "apiKey", In: "cookie", Name: sessionCookie, Description: "A signed-in browser; over TLS the name begins with `__Host-`. Writes from other sites are refused."},
			},
			Responses: map[string]*huma.Response{},
		},
	}
}

// describe turns a row of the table into its operation, but for input and answer.
func describe(rt *Route) *huma.Operation {
	op := &huma.Operation{
		OperationID: rt.ID, Method: rt.Method, Path: rt.Path, DefaultStatus: rt.Status,
		Tags: []string{rt.Tag}, Summary: rt.Summary, Description: strings.TrimSpace(rt.Description + "\n\n" + accessText(&rt.Access)),
		Responses: map[string]*huma.Response{}, Security: []map[string][]string{},
	}
	if op.DefaultStatus == 0 {
		op.DefaultStatus = http.StatusOK
	}
	if !rt.Access.Public {
		op.Security = []map[string][]string{{"token": {}}, {"session": {}}}
		switch {
		case rt.Access.people():
			op.Security = op.Security[1:]
		case rt.Access.Scopes&rimewatch.ScopeStatusRead != 0: // no person has it
			op.Security = op.Security[:1]
		}
	}
	for _, code := range failures(rt) {
		status := StatusOf[code]
		op.Responses[strconv.Itoa(status)] = &huma.Response{Ref: "#/components/responses/" + responseName(status)}
	}
	return op
}

func accessText(x *access) string {
	switch {
	case x.Public:
		return "Needs no token."
	case x.Role != "" && x.Scopes != 0:
		return "Needs a signed-in user with the role " + string(x.Role) + ", or a token with the scope `" + strings.Join(x.Scopes.Names(), "`, `") + "`."
	case x.Role != "":
		return "Needs a signed-in user with the role " + string(x.Role) + "; an API token cannot do this, since " + x.Why + "."
	case x.Own:
		return "Needs a signed-in user, a member of a workspace or not; an API token cannot do this, since " + x.Why + "."
	case x.Scopes == 0:
		return "Needs a token or a signed-in user."
	case x.Rehearsal != 0:
		return "Needs the scope `" + strings.Join(x.Scopes.Names(), "`, `") + "`, with `dry_run=true` `" + strings.Join(x.Rehearsal.Names(), "`, `") + "` instead."
	default:
		return "Needs the scope `" + strings.Join(x.Scopes.Names(), "`, `") + "`."
	}
}

// failures lists the codes that a route may answer with.
func failures(rt *Route) []rimewatch.Code {
	codes := []rimewatch.Code{rimewatch.CodeInternal, rimewatch.CodeUnavailable, rimewatch.CodeValidationFailed}
	if !rt.Access.Public {
		codes = append(codes, rimewatch.CodeUnauthenticated, rimewatch.CodeForbidden, rimewatch.CodeRateLimited, rimewatch.CodeNotFound, rimewatch.CodeWrongWorkspace)
	} else if !safeMethod(rt.Method) {
		codes = append(codes, rimewatch.CodeForbidden, rimewatch.CodeRateLimited)
	}
	if !safeMethod(rt.Method) {
		codes = append(codes, rimewatch.CodeOutcomeUnknown)
	}
	if rt.takesKey() {
		codes = append(codes, rimewatch.CodeConflict)
	}
	if rt.takesIfMatch() {
		codes = append(codes, rimewatch.CodePreconditionFailed)
	}
	if len(rt.Body.Types) > 0 {
		codes = append(codes, rimewatch.CodeInvalidJSON, rimewatch.CodePayloadTooLarge, rimewatch.CodeUnsupportedMedia)
	}
	if strings.Contains(rt.Path, "{") {
		codes = append(codes, rimewatch.CodeNotFound)
	}
	return append(codes, rt.Also...)
}

// responseName is a status in letters.
func responseName(status int) string {
	return strings.Map(func(r rune) rune {
		if r < 'A' || r > 'Z' && r < 'a' || r > 'z' {
			return -1
		}
		return r
	}, http.StatusText(status))
}

// finishDocument adds the shared error answers, corrects schemas that are derived from types
// differently, and encodes the document.
func (a *API) finishDocument() {
	registry := a.doc.Components.Schemas
	errorSchema := registry.Schema(reflect.TypeFor[wire.Failure](), true, "")
	problemSchema := registry.Schema(reflect.TypeFor[wire.Problem](), true, "")
	registry.Map()["FailureDetail"].Properties["code"].Enum = allCodes()
	registry.Map()["Problem"].Properties["code"].Enum = allCodes()
	answered := make(map[string]bool)
	for i := range a.routes {
		for status := range a.routes[i].op.Responses {
			answered[status] = true
		}
	}
	for status, codes := range codesByStatus() {
		if !answered[strconv.Itoa(status)] {
			continue // by no route: 405 is of the router
		}
		a.doc.Components.Responses[responseName(status)] = &huma.Response{
			Description: "`" + strings.Join(codes, "`, `") + "`",
			Headers:     errorHeaders(status),
			Content: map[string]*huma.MediaType{TypeJSON: {Schema: errorSchema, Example: map[string]any{
				"success": false, "data": map[string]any{},
				"error": map[string]any{"code": codes[0], "message": "…", "fields": exampleFields(status), "request_id": "k3v0d1pq00000001", "docs": wire.ErrorDocs + codes[0]},
			}}, typeProblem: {Schema: problemSchema}},
		}
	}
	requests := make(map[string]bool)
	for i := range a.routes {
		op := a.routes[i].op
		if op.RequestBody != nil {
			for _, m := range op.RequestBody.Content {
				reach(registry, m.Schema, requests)
			}
		}
		a.finishOperation(&a.routes[i])
	}
	for name, s := range registry.Map() {
		settle(s, requests[name])
	}
	a.announce()
	a.doc.Webhooks = a.outgoing()
	a.spec = written(func() any { return a.doc })
}

// written makes a description when it is first asked for: that takes longer than all
// the rest of an API.
func written(doc func() any) func() document {
	return sync.OnceValue(func() document {
		b, err := json.Marshal(doc())
		if err != nil {
			panic(err) // the document is fixed at build time; a test makes it
		}
		return document{json: b, etag: etagOf(b)}
	})
}

func allCodes() []any {
	names := make([]string, 0, len(StatusOf))
	for code := range StatusOf {
		names = append(names, string(code))
	}
	slices.Sort(names)
	all := make([]any, len(names))
	for i, n := range names {
		all[i] = n
	}
	return all
}

func codesByStatus() map[int][]string {
	by := make(map[int][]string)
	for code, status := range StatusOf {
		by[status] = append(by[status], string(code))
	}
	for _, codes := range by {
		slices.Sort(codes)
	}
	return by
}

func exampleFields(status int) map[string]any {
	if status == http.StatusUnprocessableEntity {
		return map[string]any{"humidity": []string{"must be between 0 and 100"}}
	}
	return map[string]any{}
}

func textHeader(description string) *huma.Param {
	return &huma.Param{Description: description, Schema: &huma.Schema{Type: huma.TypeString}}
}

func errorHeaders(status int) map[string]*huma.Param {
	h := map[string]*huma.Param{RequestIDHeader: textHeader("Names the request.")}
	switch status {
	case http.StatusUnauthorized:
		h["WWW-Authenticate"] = textHeader("Bearer")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		h["Retry-After"] = textHeader("Seconds to wait before the next try.")
	case http.StatusMethodNotAllowed:
		h["Allow"] = textHeader("What the path takes.")
	}
	return h
}

// finishOperation adds the headers of success.
func (a *API) finishOperation(rt *Route) {
	ok := rt.op.Responses[strconv.Itoa(rt.op.DefaultStatus)]
	if ok.Headers == nil {
		ok.Headers = make(map[string]*huma.Param)
	}
	if m := ok.Content[TypeJSON]; m != nil {
		a.checker.describeWarnings(m.Schema)
	}
	ok.Headers[RequestIDHeader] = textHeader("Names the request.")
	if rt.takesKey() {
		longest := maxKeyLen
		rt.op.Parameters = append(rt.op.Parameters, &huma.Param{
			Name: keyHeader, In: "header", Schema: &huma.Schema{Type: huma.TypeString, MinLength: new(1), MaxLength: &longest},
			Description: "Any text that no other request of this token uses within 24 h, such as a UUID. A request that is repeated with it is carried out once and gets the same answer; " +
				"another one with the same key is 422. One whose answer is lost is 409, and so is one that is still being carried out after some seconds. Only successes are remembered: answers of 256 KiB at most, and 32 MiB of a workspace; beyond that the oldest go before their day is over.",
		})
		ok.Headers[replayedHeader] = textHeader("`true` on an answer that is given again.")
	}
	if rt.Revised && rt.Method != http.MethodDelete {
		ok.Headers["ETag"] = textHeader("The revision of what people set. It grows with each change; what is measured or sent does not count.")
	}
	if rt.takesIfMatch() {
		rt.op.Parameters = append(rt.op.Parameters, &huma.Param{
			Name: "If-Match", In: "header", Schema: &huma.Schema{Type: huma.TypeString},
			Description: "The ETag of an earlier answer: 412 and no change when it was changed since.",
		})
	}
	if rt.Undo != nil {
		rt.op.Parameters = append(rt.op.Parameters, &huma.Param{
			Name: "Prefer", In: "header", Schema: &huma.Schema{Type: huma.TypeString}, Example: laterAsked,
			Description: "respond-async of a session: the call is kept for ten seconds, in which it can be taken back, and answered 202. API tokens do not wait.",
		})
	}
	if rt.Paged {
		ok.Headers["Link"] = textHeader("The next page, with rel=\"next\".")
	}
	if rt.CSV {
		ok.Content[TypeCSV] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Description: "One header line, then a row each; RFC 4180."}}
	}
	if rt.NDJSON {
		ok.Content[TypeNDJSON] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Description: "A JSON object a line."}}
	}
	if rt.socket || rt.Status == http.StatusSeeOther {
		ok.Content = nil
	}
	if rt.Text {
		ok.Content = map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}, "application/openmetrics-text": {Schema: &huma.Schema{Type: huma.TypeString}}}
	}
	if rt.ZIP {
		ok.Content = map[string]*huma.MediaType{TypeZIP: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}
	}
	if rt.File != nil {
		ok.Content = map[string]*huma.MediaType{}
		for _, kind := range rt.File {
			ok.Content[kind] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
		}
	}
	if rt.PDF {
		ok.Content[TypePDF] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	}
	describeBodies(rt)
	if rt.OrOK {
		again := *ok
		again.Description = http.StatusText(http.StatusOK)
		if rt.Dry != nil {
			stored := ok.Content[TypeJSON].Schema
			again.Content = map[string]*huma.MediaType{TypeJSON: {Schema: &huma.Schema{AnyOf: []*huma.Schema{stored, a.envelope(rt.Dry)}}}}
		}
		rt.op.Responses["200"] = &again
	}
	if rt.Accepted != nil {
		held := *ok
		held.Description = http.StatusText(http.StatusAccepted)
		held.Content = map[string]*huma.MediaType{TypeJSON: {Schema: a.envelope(rt.Accepted)}}
		rt.op.Responses["202"] = &held
	}
	if rt.Body.Optional && rt.op.RequestBody != nil {
		rt.op.RequestBody.Required = false
	}
}

// envelope describes an answer with data of a type.
func (a *API) envelope(data reflect.Type) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeObject, Required: []string{"success", "data"}, Properties: map[string]*huma.Schema{
		"success": {Type: huma.TypeBoolean, Description: "Always true here."},
		"data":    a.doc.Components.Schemas.Schema(data, true, ""),
	}}
	a.checker.describeWarnings(s)
	return s
}

// describeWarnings adds the warnings to the data of an answer, which every answer may have.
func (c *checker) describeWarnings(envelope *huma.Schema) {
	if data := c.resolve(envelope).Properties["data"]; data != nil {
		if s := c.resolve(data); s.Type == huma.TypeObject && s.Properties != nil {
			s.Properties["warnings"] = &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}, Description: "Names the query parameters that are not known and were ignored. Absent when there are none."}
		}
	}
}

// describeBodies adds the forms of a body that huma does not derive from types.
func describeBodies(rt *Route) {
	for _, kind := range rt.Body.Types {
		if rt.op.RequestBody == nil {
			rt.op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{}}
		}
		if rt.op.RequestBody.Content[kind] != nil {
			continue
		}
		s := &huma.Schema{Type: huma.TypeString}
		if kind == TypeMultipart {
			s = &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{"file": {Type: huma.TypeString, Format: "binary"}}, Required: []string{"file"}}
		}
		rt.op.RequestBody.Content[kind] = &huma.MediaType{Schema: s}
	}
	if rt.Method == http.MethodPatch && rt.op.RequestBody != nil {
		rt.op.RequestBody.Content[TypeMergePatch] = rt.op.RequestBody.Content[TypeJSON]
	}
}

// reach marks the components that a request body uses.
func reach(r huma.Registry, s *huma.Schema, seen map[string]bool) {
	if s == nil {
		return
	}
	if s.Ref != "" {
		name := s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
		if seen[name] {
			return
		}
		seen[name] = true
		s = r.SchemaFromRef(s.Ref)
	}
	reach(r, s.Items, seen)
	for _, p := range s.Properties {
		reach(r, p, seen)
	}
	for _, p := range s.OneOf {
		reach(r, p, seen)
	}
}

// settle makes arrays what they are, never null, and the null of an enumeration
// the value instead of the word; and leaves answers open, since
// v1 may add fields and values to them, while bodies stay closed.
func settle(s *huma.Schema, request bool) {
	if s.Type == huma.TypeArray {
		s.Nullable = false
	}
	if i := slices.Index(s.Enum, any("null")); i >= 0 {
		s.Enum[i] = nil
	}
	if request && s.Nullable && len(s.Enum) > 0 && !slices.Contains(s.Enum, nil) {
		s.Enum = append(slices.Clone(s.Enum), nil) // or what may be null must not be
	}
	if !request {
		if closed, ok := s.AdditionalProperties.(bool); ok && !closed {
			s.AdditionalProperties = nil
		}
		openEnum(s)
	}
	for _, p := range s.Properties {
		settle(p, request)
	}
	if s.Items != nil {
		settle(s.Items, request)
	}
}

// init gives the checker the schemas of the description.
func (c *checker) init(r huma.Registry) {
	c.Registry = r
	c.patterns = make(map[string]pattern)
}

// prepareRoute compiles the schemas of a route's parameters and body.
func (c *checker) prepareRoute(rt *Route) {
	seen := make(map[*huma.Schema]bool)
	for _, p := range rt.op.Parameters {
		c.prepare(p.Schema, seen)
	}
	c.prepare(rt.bodySchema, seen)
}

// OpenAPI returns the description as JSON.
func (a *API) OpenAPI() []byte { return slices.Clone(a.spec().json) }

// FieldSchema returns the schema of a measurement's value.
func FieldSchema(info *rimewatch.FieldInfo) *huma.Schema {
	if info.Whole {
		return &huma.Schema{Type: huma.TypeInteger, Format: "int64"}
	}
	return &huma.Schema{Type: huma.TypeNumber, Format: "double"}
}

// outgoing describes the requests to webhooks.
func (a *API) outgoing() map[string]*huma.PathItem {
	if a.doc.Components.Schemas.Map()["Event"] == nil {
		return nil
	}
	header := func(name, text, example string) *huma.Param {
		return &huma.Param{Name: name, In: "header", Required: true, Description: text, Schema: &huma.Schema{Type: huma.TypeString, Examples: []any{example}}}
	}
	return map[string]*huma.PathItem{"event": {Post: &huma.Operation{
		OperationID: "receive-event", Tags: []string{"Events"}, Summary: "An event",
		Description: "Sent to every webhook that asks for it, at least once, and those of one subject in order. Any 2xx within ten seconds is an answer; everything else is tried again for three days, and 410 switches the webhook off. Redirects are not followed. A message of the type reading.batch has up to a thousand readings in data.readings; where it is not taken, the next one has the newest again.",
		Parameters: []*huma.Param{
			header("Webhook-Id", "The id of the event: drop what you have seen.", "evt_1_42"),
			header("Webhook-Timestamp", "Of the attempt, in seconds since the epoch: refuse what is older than five minutes.", "1795204032"),
			header("Webhook-Signature", "One or two signatures, between spaces: v1, and the base64 of HMAC-SHA256 over id.timestamp.body, as Standard Webhooks has it.", "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="),
		},
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{TypeJSON: {Schema: &huma.Schema{Ref: "#/components/schemas/Event"}}}},
		Responses:   map[string]*huma.Response{"2XX": {Description: "Taken."}, "410": {Description: "Switches the webhook off."}},
		Security:    []map[string][]string{},
	}}}
}
