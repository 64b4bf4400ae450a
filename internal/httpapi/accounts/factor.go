package accounts

import (
	"context"
	"encoding/base64"
	"net/http"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
)

type secondFactors interface {
	SecondFactor(ctx context.Context, p account.Principal) (account.Factor, error)
	BeginSecondFactor(ctx context.Context, p account.Principal, password string, now rimewatch.Time) (account.FactorKey, error)
	ConfirmSecondFactor(ctx context.Context, p account.Principal, code string, client account.Client, now rimewatch.Time) (account.SignedIn, []string, error)
	RemoveSecondFactor(ctx context.Context, p account.Principal, x account.Proof, now rimewatch.Time) (account.SignedIn, error)
	RenewRecoveryCodes(ctx context.Context, p account.Principal, x account.Proof, now rimewatch.Time) ([]string, error)
	Erase(ctx context.Context, p account.Principal, password string, now rimewatch.Time) error
	SendsMail(ctx context.Context) bool
	RequestReset(ctx context.Context, email, language string, now rimewatch.Time) error
	ResetByLink(ctx context.Context, secret, password string, now rimewatch.Time) error
}

// factors answers what is about second factors and forgotten passwords.
type factors struct{ people }

// SecondFactorState is the state of a person's second factor.
type SecondFactorState struct {
	Enabled           bool           `json:"enabled"`
	Since             rimewatch.Time `json:"since" doc:"Null without one."`
	RecoveryCodesLeft int            `json:"recovery_codes_left"`
}

func (a factors) state(ctx context.Context, _ *httpapi.NoInput) (SecondFactorState, error) {
	f, err := a.service.SecondFactor(ctx, httpapi.CallOf(ctx).Principal)
	return SecondFactorState{f.Since != 0, f.Since, f.Codes}, err
}

// CurrentPassword is a body that says again who is asking.
type CurrentPassword struct {
	CurrentPassword string `json:"current_password" maxLength:"256" doc:"Empty for those who sign in by a provider and have none: they signed in within the last 10 minutes."`
}

// PasswordAndCode is a body that says again who is asking, past the second factor.
type PasswordAndCode struct {
	CurrentPassword string `json:"current_password" maxLength:"256" doc:"As when setting one up."`
	Code            string `json:"code,omitempty" maxLength:"32" doc:"What the app shows now, or a recovery code. Needed while there is a second factor."`
}

func (a factors) proof(c *httpapi.Call, b *PasswordAndCode) account.Proof {
	return account.Proof{Password: b.CurrentPassword, Code: b.Code, Client: a.client(c)}
}

// SecondFactorKey is what an authenticator app needs to know.
type SecondFactorKey struct {
	Secret string `json:"secret" doc:"To be typed into the app, base32."`
	URL    string `json:"url" doc:"The same as an otpauth URL." example:"otpauth://totp/Rimewatch:olga@example.com?secret=…"`
	QR     string `json:"qr" doc:"The URL as a QR code: a data URL of a PNG."`
}

func (a factors) begin(ctx context.Context, in *httpapi.BodyInput[CurrentPassword]) (SecondFactorKey, error) {
	c := httpapi.CallOf(ctx)
	var key account.FactorKey
	err := a.guess(c, func() (err error) {
		key, err = a.service.BeginSecondFactor(ctx, c.Principal, in.Body.CurrentPassword, c.Now)
		return err
	})
	if err != nil {
		return SecondFactorKey{}, err
	}
	return SecondFactorKey{key.Secret, key.URL, "data:image/png;base64," + base64.StdEncoding.EncodeToString(key.QR)}, nil
}

// CodeBody carries what the app shows.
type CodeBody struct {
	Code string `json:"code" minLength:"6" maxLength:"32"`
}

// RecoveryCodes are codes that replace the app once each.
type RecoveryCodes struct {
	RecoveryCodes []string `json:"recovery_codes" doc:"Shown here and never again."`
}

func (a factors) confirm(ctx context.Context, in *httpapi.BodyInput[CodeBody]) (RecoveryCodes, error) {
	c := httpapi.CallOf(ctx)
	var codes []string
	_, err := a.enter(c, func() (s account.SignedIn, err error) {
		s, codes, err = a.service.ConfirmSecondFactor(ctx, c.Principal, in.Body.Code, a.client(c), c.Now)
		return s, err
	})
	if err != nil {
		return RecoveryCodes{}, err
	}
	return RecoveryCodes{codes}, nil
}

func (a factors) renewCodes(ctx context.Context, in *httpapi.BodyInput[PasswordAndCode]) (RecoveryCodes, error) {
	c := httpapi.CallOf(ctx)
	var codes []string
	err := a.guess(c, func() (err error) {
		codes, err = a.service.RenewRecoveryCodes(ctx, c.Principal, a.proof(c, &in.Body), c.Now)
		return err
	})
	return RecoveryCodes{codes}, err
}

func (a factors) remove(ctx context.Context, in *httpapi.BodyInput[PasswordAndCode]) (httpapi.Done, error) {
	c := httpapi.CallOf(ctx)
	_, err := a.enter(c, func() (account.SignedIn, error) {
		return a.service.RemoveSecondFactor(ctx, c.Principal, a.proof(c, &in.Body), c.Now)
	})
	return httpapi.Done{}, err
}

func (a factors) erase(ctx context.Context, in *httpapi.BodyInput[CurrentPassword]) (httpapi.Done, error) {
	c := httpapi.CallOf(ctx)
	err := a.guess(c, func() error { return a.service.Erase(ctx, c.Principal, in.Body.CurrentPassword, c.Now) })
	if err != nil {
		return httpapi.Done{}, err
	}
	a.setCookie(c, "", time.Unix(1, 0))
	return httpapi.Done{}, nil
}

// ForgotBody names the account whose password is forgotten.
type ForgotBody struct {
	Email string `json:"email" minLength:"3" maxLength:"254"`
}

// forgot counts against the address like a failure: nobody needs many.
func (a factors) forgot(ctx context.Context, in *httpapi.BodyInput[ForgotBody]) (httpapi.Done, error) {
	c := httpapi.CallOf(ctx)
	if wait := a.SignInFailures.Fail(a.ClientAddr(c.R), c.Now); wait > 0 {
		return httpapi.Done{}, httpapi.ErrTooManyFailures(wait)
	}
	return httpapi.Done{}, a.service.RequestReset(ctx, in.Body.Email, c.Locale().Language, c.Now)
}

// ResetBody sets a password by a link.
type ResetBody struct {
	Secret   string `json:"secret" minLength:"1" maxLength:"64"`
	Password string `json:"password" minLength:"10" maxLength:"256"`
}

func (a factors) reset(ctx context.Context, in *httpapi.BodyInput[ResetBody]) (httpapi.Done, error) {
	c := httpapi.CallOf(ctx)
	return httpapi.Done{}, a.guess(c, func() error {
		return a.service.ResetByLink(ctx, in.Body.Secret, in.Body.Password, c.Now)
	})
}

func (f factors) routes() []httpapi.Route {
	const path = "/v1/me/second-factor"
	conflict, gone := []rimewatch.Code{rimewatch.CodeConflict}, []rimewatch.Code{rimewatch.CodeNotFound}
	either := []rimewatch.Code{rimewatch.CodeNotFound, rimewatch.CodeConflict}
	return []httpapi.Route{
		{Method: http.MethodGet, Path: path, ID: "get-second-factor", Tag: "Account", Summary: "Get the state of your second factor", Access: httpapi.SignedIn, Bind: httpapi.Handle(f.state)},
		{
			Method: http.MethodPost, Path: path, ID: "begin-second-factor", Tag: "Account", Summary: "Set up a second factor", Access: httpapi.SignedIn, Body: httpapi.JSONBody, Also: conflict,
			Description: "Returns a secret for an authenticator app (TOTP, RFC 6238). It does not count before it is confirmed.", Bind: httpapi.Handle(f.begin),
		},
		{
			Method: http.MethodPost, Path: path + "/confirm", ID: "confirm-second-factor", Tag: "Account", Summary: "Confirm your second factor", Access: httpapi.SignedIn, Body: httpapi.JSONBody,
			Also: either, Description: "With the code that the app shows now. Ends all of your sessions and starts a new one for this browser.", Bind: httpapi.Handle(f.confirm),
		},
		{
			Method: http.MethodPost, Path: path + "/recovery-codes", ID: "renew-recovery-codes", Tag: "Account", Summary: "Replace your recovery codes", Access: httpapi.SignedIn, Body: httpapi.JSONBody,
			Also: gone, Description: "Needs the password and a code that the app shows now, or one of the old recovery codes.", Bind: httpapi.Handle(f.renewCodes),
		},
		{
			Method: http.MethodPost, Path: path + "/remove", ID: "remove-second-factor", Tag: "Account", Summary: "Remove your second factor", Access: httpapi.SignedIn, Body: httpapi.JSONBody,
			Also: gone, Description: "Needs the password and a code that the app shows now, or a recovery code. Ends all of your sessions and starts a new one for this browser.", Bind: httpapi.Handle(f.remove),
		},
		{
			Method: http.MethodPost, Path: "/v1/me/erase", ID: "erase-me", Tag: "Account", Summary: "Erase your account", Access: httpapi.SignedIn, Body: httpapi.JSONBody, Also: conflict,
			Description: "Your memberships, sessions and tokens end; the audit logs of your workspaces keep what you did. 409 while a workspace has no other owner.", Bind: httpapi.Handle(f.erase),
		},
		{
			Method: http.MethodPost, Path: "/v1/auth/forgot", ID: "forgot-password", Tag: "Account", Summary: "Ask for a link for a new password", Access: httpapi.Public, Body: httpapi.JSONBody, Also: conflict,
			Description: "The link goes to the address if it has an account; the answer is the same if not. 409 when the service sends no e-mail.", Bind: httpapi.Handle(f.forgot),
		},
		{
			Method: http.MethodPost, Path: "/v1/auth/reset", ID: "reset-password", Tag: "Account", Summary: "Set a new password by a link", Access: httpapi.Public, Body: httpapi.JSONBody,
			Also: gone, Description: "Ends all sessions of the person. The link works once, for an hour.", Bind: httpapi.Handle(f.reset),
		},
	}
}
