package httpapi

import (
	"context"
	"encoding/base64"
	"net/http"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
)

type secondFactors interface {
	SecondFactor(ctx context.Context, p account.Principal) (account.Factor, error)
	BeginSecondFactor(ctx context.Context, p account.Principal, password string) (account.FactorKey, error)
	ConfirmSecondFactor(ctx context.Context, p account.Principal, code string, client account.Client, now rimewatch.Time) (account.SignedIn, []string, error)
	RemoveSecondFactor(ctx context.Context, p account.Principal, password string, client account.Client, now rimewatch.Time) (account.SignedIn, error)
	RenewRecoveryCodes(ctx context.Context, p account.Principal, password string) ([]string, error)
	Erase(ctx context.Context, p account.Principal, password string, now rimewatch.Time) error
	SendsMail() bool
	RequestReset(email string, now rimewatch.Time) error
	ResetByLink(ctx context.Context, secret, password string, now rimewatch.Time) error
}

// factorRoom answers what is about second factors and forgotten passwords.
type factorRoom struct{ *API }

// SecondFactorState is the state of a person's second factor.
type SecondFactorState struct {
	Enabled           bool           `json:"enabled"`
	Since             rimewatch.Time `json:"since" doc:"Null without one."`
	RecoveryCodesLeft int            `json:"recovery_codes_left"`
}

func (a factorRoom) state(ctx context.Context, _ *NoInput) (SecondFactorState, error) {
	f, err := a.cfg.Accounts.SecondFactor(ctx, callOf(ctx).principal)
	return SecondFactorState{f.Since != 0, f.Since, f.Codes}, err
}

// CurrentPassword is a body that says again who is asking.
type CurrentPassword struct {
	CurrentPassword string `json:"current_password" minLength:"1" maxLength:"256"`
}

// CurrentPasswordInput carries the current password.
type CurrentPasswordInput struct {
	Body CurrentPassword
}

// SecondFactorKey is what an authenticator app needs to know.
type SecondFactorKey struct {
	Secret string `json:"secret" doc:"To be typed into the app, base32."`
	URL    string `json:"url" doc:"The same as an otpauth URL." example:"otpauth://totp/Rimewatch:olga@example.com?secret=…"`
	QR     string `json:"qr" doc:"The URL as a QR code: a data URL of a PNG."`
}

func (a factorRoom) begin(ctx context.Context, in *CurrentPasswordInput) (SecondFactorKey, error) {
	c := callOf(ctx)
	var key account.FactorKey
	err := a.guess(c, func() (err error) {
		key, err = a.cfg.Accounts.BeginSecondFactor(ctx, c.principal, in.Body.CurrentPassword)
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

// CodeInput carries a code.
type CodeInput struct {
	Body CodeBody
}

// RecoveryCodes are codes that replace the app once each.
type RecoveryCodes struct {
	RecoveryCodes []string `json:"recovery_codes" doc:"Shown here and never again."`
}

func (a factorRoom) confirm(ctx context.Context, in *CodeInput) (RecoveryCodes, error) {
	c := callOf(ctx)
	var s account.SignedIn
	var codes []string
	err := a.guess(c, func() (err error) {
		s, codes, err = a.cfg.Accounts.ConfirmSecondFactor(ctx, c.principal, in.Body.Code, a.client(c), c.now)
		return err
	})
	if err != nil {
		return RecoveryCodes{}, err
	}
	a.setSession(c, s)
	return RecoveryCodes{codes}, nil
}

func (a factorRoom) renewCodes(ctx context.Context, in *CurrentPasswordInput) (RecoveryCodes, error) {
	c := callOf(ctx)
	var codes []string
	err := a.guess(c, func() (err error) {
		codes, err = a.cfg.Accounts.RenewRecoveryCodes(ctx, c.principal, in.Body.CurrentPassword)
		return err
	})
	return RecoveryCodes{codes}, err
}

func (a factorRoom) remove(ctx context.Context, in *CurrentPasswordInput) (Done, error) {
	c := callOf(ctx)
	var s account.SignedIn
	err := a.guess(c, func() (err error) {
		s, err = a.cfg.Accounts.RemoveSecondFactor(ctx, c.principal, in.Body.CurrentPassword, a.client(c), c.now)
		return err
	})
	if err != nil {
		return Done{}, err
	}
	a.setSession(c, s)
	return Done{}, nil
}

func (a factorRoom) erase(ctx context.Context, in *CurrentPasswordInput) (Done, error) {
	c := callOf(ctx)
	err := a.guess(c, func() error { return a.cfg.Accounts.Erase(ctx, c.principal, in.Body.CurrentPassword, c.now) })
	if err != nil {
		return Done{}, err
	}
	a.setCookie(c, "", time.Unix(1, 0))
	return Done{}, nil
}

// ForgotBody names the account whose password is forgotten.
type ForgotBody struct {
	Email string `json:"email" minLength:"3" maxLength:"254"`
}

// ForgotInput carries a request for a link.
type ForgotInput struct {
	Body ForgotBody
}

// forgot counts against the address like a failure: nobody needs many.
func (a factorRoom) forgot(ctx context.Context, in *ForgotInput) (Done, error) {
	c := callOf(ctx)
	if wait := a.authFailures.Fail(a.clientAddr(c.r), c.now); wait > 0 {
		return Done{}, errTooManyFailures(wait)
	}
	return Done{}, a.cfg.Accounts.RequestReset(in.Body.Email, c.now)
}

// ResetBody sets a password by a link.
type ResetBody struct {
	Secret   string `json:"secret" minLength:"1" maxLength:"64"`
	Password string `json:"password" minLength:"10" maxLength:"256"`
}

// ResetInput carries a new password.
type ResetInput struct {
	Body ResetBody
}

func (a factorRoom) reset(ctx context.Context, in *ResetInput) (Done, error) {
	c := callOf(ctx)
	return Done{}, a.guess(c, func() error {
		return a.cfg.Accounts.ResetByLink(ctx, in.Body.Secret, in.Body.Password, c.now)
	})
}

func (f factorRoom) routes() []route {
	const path = "/v1/me/second-factor"
	conflict, gone := []rimewatch.Code{rimewatch.CodeConflict}, []rimewatch.Code{rimewatch.CodeNotFound}
	either := []rimewatch.Code{rimewatch.CodeNotFound, rimewatch.CodeConflict}
	return []route{
		{method: http.MethodGet, path: path, id: "get-second-factor", tag: "Account", summary: "Get the state of your second factor", access: signedIn, bind: handle(f.state)},
		{
			method: http.MethodPost, path: path, id: "begin-second-factor", tag: "Account", summary: "Set up a second factor", access: signedIn, body: jsonBody, also: conflict,
			description: "Gives a secret for an authenticator app (TOTP, RFC 6238). It does not count before it is confirmed.", bind: handle(f.begin),
		},
		{
			method: http.MethodPost, path: path + "/confirm", id: "confirm-second-factor", tag: "Account", summary: "Confirm your second factor", access: signedIn, body: jsonBody,
			also: either, description: "With the code that the app shows now. Ends all of your sessions and starts a new one for this browser.", bind: handle(f.confirm),
		},
		{
			method: http.MethodPost, path: path + "/recovery-codes", id: "renew-recovery-codes", tag: "Account", summary: "Replace your recovery codes", access: signedIn, body: jsonBody,
			also: gone, bind: handle(f.renewCodes),
		},
		{
			method: http.MethodPost, path: path + "/remove", id: "remove-second-factor", tag: "Account", summary: "Remove your second factor", access: signedIn, body: jsonBody,
			also: gone, description: "Ends all of your sessions and starts a new one for this browser.", bind: handle(f.remove),
		},
		{
			method: http.MethodPost, path: "/v1/me/erase", id: "erase-me", tag: "Account", summary: "Erase your account", access: signedIn, body: jsonBody, also: conflict,
			description: "Your memberships, sessions and tokens end; the audit logs of your workspaces keep what you did. 409 while a workspace has no other owner.", bind: handle(f.erase),
		},
		{
			method: http.MethodPost, path: "/v1/auth/forgot", id: "forgot-password", tag: "Account", summary: "Ask for a link for a new password", access: public, body: jsonBody, also: conflict,
			description: "The link goes to the address if it has an account; the answer is the same if not. 409 when the service sends no e-mail.", bind: handle(f.forgot),
		},
		{
			method: http.MethodPost, path: "/v1/auth/reset", id: "reset-password", tag: "Account", summary: "Set a new password by a link", access: public, body: jsonBody,
			also: gone, description: "Ends all sessions of the person. The link works once, for an hour.", bind: handle(f.reset),
		},
	}
}
