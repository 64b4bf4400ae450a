package records

import (
	"cmp"
	"context"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Doer is who did or verified something that is on record.
type Doer struct {
	Kind  rimewatch.DoerKind `json:"kind" enum:"person,external,token,unverified_text" doc:"person was signed in; external was named by the person who recorded it, token by a program; unverified_text is a name of before these were told apart."`
	ID    *int64             `json:"id" doc:"Of the person; null otherwise."`
	Name  string             `json:"name"`
	Firm  string             `json:"firm"`
	Token *string            `json:"token" doc:"The name of the API token that said so; null otherwise."`
}

func doerJSON(d *rimewatch.Doer) *Doer {
	if d == nil {
		return nil
	}
	return &Doer{d.Kind, wire.OrNull(d.ID), d.Name, d.Firm, wire.OrNull(d.Token)}
}

// External is a person who is not signed in.
type External struct {
	Name string `json:"name" minLength:"1" maxLength:"200"`
	Firm string `json:"firm,omitempty" maxLength:"200"`
}

// names are the members of a body that name the doer.
type names struct {
	performedBy string
	external    *External
	verifiedBy  *string
}

// doers settles who did something and who verified it: in a session the person who is signed in, unless
// somebody else is named; from a token whom it names, which then stands beside the name. A program cannot verify.
func (a *api) doers(ctx context.Context, n names, f *wire.FieldErrors) (performed rimewatch.Doer, verified *rimewatch.Doer, err error) {
	c := httpapi.CallOf(ctx)
	self, email, err := a.self(ctx)
	if err != nil {
		return performed, nil, err
	}
	named := func(name, firm string) rimewatch.Doer {
		name = strings.TrimSpace(name)
		switch {
		case !c.Principal.Session:
			return rimewatch.Doer{Kind: rimewatch.DoerToken, Name: name, Firm: firm, Token: c.Principal.TokenName}
		case firm == "" && (strings.EqualFold(name, self.Name) || strings.EqualFold(name, email)):
			return self
		}
		return rimewatch.Doer{Kind: rimewatch.DoerExternal, Name: name, Firm: firm}
	}
	switch {
	case n.external != nil && n.performedBy != "":
		f.Add("external", "must not be given besides performed_by")
	case n.external != nil:
		f.NotBlank("external.name", n.external.Name)
		performed = named(n.external.Name, strings.TrimSpace(n.external.Firm))
	case n.performedBy == "" && c.Principal.Session:
		performed = self
	default:
		f.NotBlank("performed_by", n.performedBy)
		performed = named(n.performedBy, "")
	}
	if n.verifiedBy == nil || strings.TrimSpace(*n.verifiedBy) == "" {
		return performed, nil, nil
	}
	if !c.Principal.Session {
		return performed, nil, rimewatch.Errorf(rimewatch.CodePersonRequired, "A program cannot say who verified a record: people verify it, signed in.").With("verified_by", "must be absent")
	}
	v := named(*n.verifiedBy, "")
	if strings.EqualFold(v.Name, performed.Name) {
		f.Add("verified_by", "must be another person than performed_by")
	}
	return performed, &v, nil
}

// self is the person who is signed in, with the e-mail address; of a token nobody.
func (a *api) self(ctx context.Context) (d rimewatch.Doer, email string, err error) {
	c := httpapi.CallOf(ctx)
	u, err := a.Person(ctx, c.Principal)
	if err != nil || !c.Principal.Session {
		return d, "", err
	}
	return rimewatch.Doer{Kind: rimewatch.DoerPerson, ID: u.ID, Name: cmp.Or(u.Name, u.Email)}, u.Email, nil
}

// verify adds that the person who is signed in has verified a record.
func (a *api) verify(ctx context.Context, in *httpapi.IDInput) (CorrectiveActionData, error) {
	c := httpapi.CallOf(ctx)
	id := in.Number()
	x, err := a.Store.Records().CorrectiveAction(ctx, c.Workspace(), id)
	if err != nil {
		return CorrectiveActionData{}, err
	}
	if err := a.seen(ctx, &x); err != nil {
		return CorrectiveActionData{}, err
	}
	self, _, err := a.self(ctx)
	if err != nil {
		return CorrectiveActionData{}, err
	}
	x, err = a.Store.Records().VerifyCorrectiveAction(ctx, c.Workspace(), id, self, c.Now)
	if err != nil {
		return CorrectiveActionData{}, err
	}
	return CorrectiveActionData{a.correctiveActionJSON(&x)}, nil
}

// seen is store.ErrNoRecord where the caller must not see the record's subject.
func (a *api) seen(ctx context.Context, x *rimewatch.CorrectiveAction) (err error) {
	c := httpapi.CallOf(ctx)
	if c.Principal.Limit == nil {
		return nil
	}
	if v, ok := a.Store.DeviceByID(x.DeviceID); ok {
		_, err = a.Store.Device(ctx, c.Workspace(), v.Serial)
	} else {
		_, err = a.Store.Alert(ctx, c.Workspace(), x.AlertID)
	}
	switch rimewatch.CodeOf(err) {
	case rimewatch.CodeDeviceNotFound, rimewatch.CodeAlertNotFound:
		return store.ErrNoRecord()
	}
	return err
}
