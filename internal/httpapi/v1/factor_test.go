package v1

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
)

func TestSecondFactorRoutes(t *testing.T) {
	r := newRig(t)
	const path = "/v1/me/second-factor"
	pw := `{"current_password":"` + ownerPassword + `"}`
	r.run(t, []scenario{
		{name: "none", req: r.browser(get(path, "")), status: 200, want: map[string]any{"data.enabled": false, "data.since": nil, "data.recovery_codes_left": 0.0}},
		{name: "wrong password", req: r.browser(post(path, "", `{"current_password":"x"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"current_password"}},
		{name: "nothing to confirm", req: r.browser(post(path+"/confirm", "", `{"code":"123456"}`)), status: 404, code: rimewatch.CodeNotFound},
		{name: "nothing to remove", req: r.browser(post(path+"/remove", "", pw)), status: 404, code: rimewatch.CodeNotFound},
		{name: "not required by who has none", req: r.browser(patch("/v1/workspace", "", `{"require_second_factor":true}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"require_second_factor"}},
	})
	key := r.do(r.browser(post(path, "", pw)))
	secret, _ := key.get("data.secret").(string)
	qr, _ := key.get("data.qr").(string)
	picture, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(qr, "data:image/png;base64,"))
	if err != nil {
		t.Fatal(key.body)
	}
	if img, err := png.Decode(bytes.NewReader(picture)); err != nil || img.Bounds().Dx() != 240 {
		t.Errorf("the QR code: %v", err)
	}
	code := func() string {
		c, err := totp.GenerateCode(secret, r.now().Std())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	r.run(t, []scenario{{name: "wrong code", req: r.browser(post(path+"/confirm", "", `{"code":"abcdef"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"code"}}})
	confirmed := r.do(r.browser(post(path+"/confirm", "", `{"code":"`+code()+`"}`)))
	codes, _ := confirmed.get("data.recovery_codes").([]any)
	if confirmed.status != 200 || len(codes) != 10 {
		t.Fatal(confirmed.body)
	}
	r.owner = cookieOf(t, confirmed).Value
	r.advance(time.Minute)
	pwAnd := func(code any) string {
		return fmt.Sprintf(`{"current_password":%q,"code":%q}`, ownerPassword, code)
	}
	signIn := func(code string) request {
		return post("/v1/auth/sign-in", "", `{"email":"olga@example.com","password":"`+ownerPassword+`","code":"`+code+`"}`)
	}
	r.run(t, []scenario{
		{name: "it is there", req: r.browser(get(path, "")), status: 200, want: map[string]any{"data.enabled": true, "data.recovery_codes_left": 10.0}},
		{name: "no second one", req: r.browser(post(path, "", pw)), status: 409, code: rimewatch.CodeConflict},
		{name: "a code is needed", req: signIn(""), status: 401, code: rimewatch.CodeUnauthenticated, fields: []string{"code"}},
		{name: "a wrong one", req: signIn("000000"), status: 401, code: rimewatch.CodeUnauthenticated, fields: []string{"code"}},
		{name: "the right one", req: signIn(code()), status: 200},
		{name: "a recovery code", req: signIn(fmt.Sprint(codes[0])), status: 200},
		{name: "used up", req: signIn(fmt.Sprint(codes[0])), status: 401, code: rimewatch.CodeUnauthenticated, fields: []string{"code"}},
		{name: "require it", req: r.browser(patch("/v1/workspace", "", `{"require_second_factor":true}`)), status: 200, want: map[string]any{"data.workspace.require_second_factor": true}},
	})
	if _, err := r.accounts.AddUser(t.Context(), r.workspace.ID, account.UserRequest{Email: "ada@example.com", Password: ownerPassword, Role: rimewatch.RoleAdmin}, r.now()); err != nil {
		t.Fatal(err)
	}
	ada := cookieOf(t, r.do(post("/v1/auth/sign-in", "", `{"email":"ada@example.com","password":"`+ownerPassword+`"}`))).Value
	as := func(q request) request { return q.with("Cookie", "rimewatch_session"+"="+ada) }
	r.run(t, []scenario{
		{name: "shut out", req: as(get("/v1/devices", "")), status: 403, code: rimewatch.CodeForbidden, fields: []string{"second_factor"}},
		{name: "me, too", req: as(get("/v1/me", "")), status: 403, code: rimewatch.CodeForbidden, fields: []string{"second_factor"}},
		{name: "but may set one up", req: as(post(path, "", pw)), status: 200},
		{name: "new codes take a code", req: r.browser(post(path+"/recovery-codes", "", pw)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"code"}},
		{name: "new codes", req: r.browser(post(path+"/recovery-codes", "", pwAnd(codes[1]))), status: 200, want: map[string]any{"data.recovery_codes.10": nil}},
		{name: "removing takes a code", req: r.browser(post(path+"/remove", "", pw)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"code"}},
	})
	r.advance(time.Minute)
	r.run(t, []scenario{
		{name: "remove", req: r.browser(post(path+"/remove", "", pwAnd(code()))), status: 200},
	})
}

// The code that an ordinary sign-in is asked for is no failed guess.
func TestAskingForTheCodeCountsNothing(t *testing.T) {
	r := newRig(t, func(c *whole) { c.AuthRateLimit = 3 })
	owner, err := r.accounts.AuthenticateSession(t.Context(), r.owner, "", r.now())
	if err != nil {
		t.Fatal(err)
	}
	key, err := r.accounts.BeginSecondFactor(t.Context(), owner, ownerPassword, r.now())
	if err != nil {
		t.Fatal(err)
	}
	code, err := totp.GenerateCode(key.Secret, r.now().Std())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.accounts.ConfirmSecondFactor(t.Context(), owner, code, account.Client{}, r.now()); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if a := r.do(post("/v1/auth/sign-in", "", `{"email":"olga@example.com","password":"`+ownerPassword+`"}`)); a.status != 401 {
			t.Fatal(a.body)
		}
	}
}

func TestForgottenPasswordRoutes(t *testing.T) {
	r := newRig(t, func(c *whole) { c.AuthRateLimit = 20 })
	forgot := func(email string) request { return post("/v1/auth/forgot", "", `{"email":"`+email+`"}`) }
	r.run(t, []scenario{
		{name: "no mail", req: get("/v1/setup", ""), status: 200, want: map[string]any{"data.mail": false}},
		{name: "no mail, no link", req: forgot("olga@example.com"), status: 409, code: rimewatch.CodeConflict},
		{name: "no such link", req: post("/v1/auth/reset", "", `{"secret":"x","password":"another good one"}`), status: 404, code: rimewatch.CodeNotFound},
	})
	letters := make(chan account.Letter, 10)
	r.accounts = account.New(account.Config{Store: r.store, Password: account.PasswordParams{MemoryKiB: 64, Passes: 1, Threads: 1}, PublicURL: "https://rime.example",
		Mail: func(_ context.Context, l account.Letter) error { letters <- l; return nil }})
	r.service.Service = r.accounts
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); r.accounts.Run(ctx, r.now) }()
	t.Cleanup(func() { cancel(); <-done })
	known, unknown := r.do(forgot("olga@example.com")), r.do(forgot("nobody@example.com"))
	strip := func(a answer) string { return strings.ReplaceAll(a.body, a.header.Get(httpapi.RequestIDHeader), "") }
	if known.status != 200 || strip(known) != strip(unknown) {
		t.Errorf("an oracle: %s%s", known.body, unknown.body)
	}
	_, rest, _ := strings.Cut((<-letters).Text, "/reset#")
	link := strings.Fields(rest)[0]
	reset := post("/v1/auth/reset", "", `{"secret":"`+link+`","password":"another good one"}`)
	r.run(t, []scenario{
		{name: "mail", req: get("/v1/setup", ""), status: 200, want: map[string]any{"data.mail": true}},
		{name: "a common one", req: post("/v1/auth/reset", "", `{"secret":"`+link+`","password":"password123"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"password"}},
		{name: "the new one", req: reset, status: 200, header: map[string]string{"Set-Cookie": ""}},
		{name: "once", req: reset, status: 404, code: rimewatch.CodeNotFound},
		{name: "the session is over", req: r.browser(get("/v1/me", "")), status: 401, code: rimewatch.CodeUnauthenticated},
		{name: "sign in", req: post("/v1/auth/sign-in", "", `{"email":"olga@example.com","password":"another good one"}`), status: 200},
	})
	n := 0
	for ; n < 50; n++ {
		if a := r.do(forgot("nobody@example.com")); a.status == 429 {
			break
		}
	}
	if n >= 20 {
		t.Errorf("%d requests for links", n)
	}
}

func TestEraseRoute(t *testing.T) {
	r := newRig(t)
	pw := `{"current_password":"` + ownerPassword + `"}`
	r.run(t, []scenario{
		{name: "the only owner stays", req: r.browser(post("/v1/me/erase", "", pw)), status: 409, code: rimewatch.CodeConflict},
		{name: "never by a token", req: post("/v1/me/erase", r.full, pw), status: 403, code: rimewatch.CodeForbidden},
	})
	if _, err := r.accounts.AddUser(t.Context(), r.workspace.ID, account.UserRequest{Email: "ada@example.com", Password: ownerPassword, Role: rimewatch.RoleOwner}, r.now()); err != nil {
		t.Fatal(err)
	}
	erased := r.do(r.browser(post("/v1/me/erase", "", pw)))
	if c := cookieOf(t, erased); erased.status != 200 || c.MaxAge >= 0 {
		t.Errorf("%d %+v", erased.status, c)
	}
	r.run(t, []scenario{{name: "gone", req: r.browser(get("/v1/me", "")), status: 401, code: rimewatch.CodeUnauthenticated}})
}
