package v1

import (
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
)

// TestAddressOfTheInstallation: who has set it up says where it is, and no other owner does.
func TestAddressOfTheInstallation(t *testing.T) {
	r := newRig(t, func(c *whole) { c.Listen = ":8080" })
	to := func(address string) request {
		return r.browser(patch("/v1/address", "", `{"address":"`+address+`"}`))
	}
	nowhere := map[string]any{"data.address.address": nil, "data.address.fixed": false, "data.address.only_here": false, "data.address.editable": true, "data.address.offered.0": "http://example.com"}
	r.run(t, []scenario{
		{name: "nobody has said", req: r.browser(get("/v1/address", "")), status: 200, want: nowhere},
		{name: "a token reads", req: get("/v1/address", r.read), status: 200, want: map[string]any{"data.address.editable": false, "data.address.offered": []any{}}},
		{name: "and never writes", req: patch("/v1/address", r.full, `{"address":"https://a.example"}`), status: 403, code: rimewatch.CodeForbidden},
		{name: "no address", req: to("cold.example.com"), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"address"}},
		{name: "a password in it", req: to("https://u:p@cold.example.com"), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"address"}},
		{name: "a script", req: to("javascript:alert(1)"), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"address"}},
		{name: "nothing was stored", req: r.browser(get("/v1/address", "")), status: 200, want: nowhere},
		{name: "only here", req: to("http://localhost:8080"), status: 200, want: map[string]any{"data.address.only_here": true}},
		{name: "one for phones", req: to("http://192.168.1.20:8080/"), status: 200, want: map[string]any{"data.address.address": "http://192.168.1.20:8080", "data.address.only_here": false}},
	})
	_, err := r.accounts.AddUser(t.Context(), r.workspace.ID, account.UserRequest{Email: "ada@example.com", Name: "Ada", Password: ownerPassword, Role: rimewatch.RoleOwner}, r.now())
	if err != nil {
		t.Fatal(err)
	}
	r.owner = cookieOf(t, r.do(post("/v1/auth/sign-in", "", `{"email":"ada@example.com","password":"`+ownerPassword+`"}`))).Value
	r.run(t, []scenario{
		{name: "another owner reads it", req: r.browser(get("/v1/address", "")), status: 200, want: map[string]any{"data.address.address": "http://192.168.1.20:8080", "data.address.editable": false}},
		{name: "and does not change it", req: to("https://evil.example"), status: 403, code: rimewatch.CodeForbidden},
	})
	if err := r.accounts.NameBreakGlass(t.Context(), "ada@example.com"); err != nil {
		t.Fatal(err)
	}
	r.run(t, []scenario{{name: "named by the operator", req: to("https://cold.example.com"), status: 200, want: map[string]any{"data.address.address": "https://cold.example.com"}}})
}

// TestAddressByFlag: what the operator's flag says is read-only.
func TestAddressByFlag(t *testing.T) {
	r := newRig(t)
	r.service.Service = account.New(account.Config{Store: r.store, Password: account.PasswordParams{MemoryKiB: 64, Passes: 1, Threads: 1}, PublicURL: "https://cold.example.com"})
	r.run(t, []scenario{
		{name: "it is read", req: r.browser(get("/v1/address", "")), status: 200, want: map[string]any{"data.address.address": "https://cold.example.com", "data.address.fixed": true, "data.address.editable": false}},
		{name: "and not changed", req: r.browser(patch("/v1/address", "", `{"address":"https://x.example"}`)), status: 409, code: rimewatch.CodeConflict},
	})
}

// TestAddressAtSetUp: addresses are offered while there is nobody, and the one that is chosen is stored.
func TestAddressAtSetUp(t *testing.T) {
	r := emptyRig(t, func(c *whole) { c.Listen = ":8080" })
	code, _, err := r.accounts.SetupCode(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	with := func(address string) request {
		return post("/v1/setup", "", `{"code":"`+code+`","workspace":"W","email":"olga@example.com","password":"`+ownerPassword+`","address":"`+address+`"}`)
	}
	r.run(t, []scenario{
		{name: "offered", req: get("/v1/setup", ""), status: 200, want: map[string]any{"data.addresses.0": "http://example.com"}},
		{name: "none that is none", req: with("nowhere"), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"address"}},
		{name: "set up", req: with("http://192.168.1.20:8080"), status: 201},
		{name: "no more is offered", req: get("/v1/setup", ""), status: 200, want: map[string]any{"data.addresses": []any{}}},
	})
	if got := r.accounts.Address(t.Context()); got != "http://192.168.1.20:8080" {
		t.Error(got)
	}
}
