package records

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/report"
)

// Signature is that of a person on a case.
type Signature struct {
	ID      int64                      `json:"id"`
	At      rimewatch.Time             `json:"at" nullable:"false"`
	Name    string                     `json:"name" doc:"As it is printed, also when the account is gone."`
	Meaning rimewatch.SignatureMeaning `json:"meaning" enum:"performed,reviewed,approved"`
	Digest  string                     `json:"digest" doc:"SHA-256 of what was signed; it stands in the audit trail, too."`
	Whole   bool                       `json:"whole" doc:"What is kept of what was signed still has that hash."`
	Covers  bool                       `json:"covers" doc:"It covers all that is on record now; false when something was added or has changed since."`
}

// signedRecord is the signed content of a case: all that people and machines have put on record.
// Names that may change later are not part of it.
type signedRecord struct {
	Case        int64                      `json:"case"`
	DeviceID    int64                      `json:"device_id"`
	SiteID      int64                      `json:"site_id"`
	From        rimewatch.Time             `json:"from"`
	To          rimewatch.Time             `json:"to"`
	Lines       []signedLine               `json:"lines"`
	Actions     []signedAction             `json:"actions"`
	Attachments []signedFile               `json:"attachments"`
	Limits      map[int64]rimewatch.Limits `json:"limits"` // by device
}

type signedLine struct {
	Kind      rimewatch.CaseLineKind `json:"kind"`
	Ref       int64                  `json:"ref"`
	DeviceID  int64                  `json:"device_id"`
	From      rimewatch.Time         `json:"from"`
	To        rimewatch.Time         `json:"to"`
	Withdrawn bool                   `json:"withdrawn"`
	Facts     rimewatch.CaseFacts    `json:"facts"`
}

type signedAction struct {
	ID          int64          `json:"id"`
	DeviceID    int64          `json:"device_id"`
	PerformedAt rimewatch.Time `json:"performed_at"`
	rimewatch.CorrectiveAction
}

type signedFile struct {
	ID     int64  `json:"id"`
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// signedContent returns the content of a signature.
type signedContent struct {
	Record  json.RawMessage            `json:"record"`
	Signer  int64                      `json:"signer"`
	Name    string                     `json:"name"`
	Meaning rimewatch.SignatureMeaning `json:"meaning"`
	At      rimewatch.Time             `json:"at"`
	Subject string                     `json:"subject"` // the device or site by its name then
}

func recordOf(d *report.Dossier) (json.RawMessage, error) {
	c := &d.Case
	out := signedRecord{Case: c.ID, DeviceID: c.DeviceID, SiteID: c.SiteID, From: c.From, To: c.To, Limits: map[int64]rimewatch.Limits{}}
	for i := range c.Lines {
		l := &c.Lines[i]
		out.Lines = append(out.Lines, signedLine{l.Kind, l.Ref, l.DeviceID, l.From, l.To, l.Withdrawn, l.Facts})
	}
	for i := range d.Actions {
		x := &d.Actions[i]
		out.Actions = append(out.Actions, signedAction{x.ID, x.DeviceID, x.PerformedAt, *x})
	}
	for i := range d.Attachments {
		x := &d.Attachments[i]
		out.Attachments = append(out.Attachments, signedFile{x.ID, x.Name, fmt.Sprintf("%x", x.SHA256)})
	}
	for i := range d.Devices {
		out.Limits[d.Devices[i].ID] = d.Devices[i].Limits
	}
	return json.Marshal(out)
}

func signaturesJSON(d *report.Dossier) ([]Signature, error) {
	now, err := recordOf(d)
	if err != nil {
		return nil, err
	}
	list := make([]Signature, len(d.Signatures))
	for i := range d.Signatures {
		s := &d.Signatures[i]
		var was signedContent
		covers := json.Unmarshal([]byte(s.Content), &was) == nil && bytes.Equal(was.Record, now)
		list[i] = Signature{ID: s.ID, At: s.At, Name: s.Name, Meaning: s.Meaning, Digest: fmt.Sprintf("%x", s.Digest), Whole: s.Whole(), Covers: covers}
	}
	return list, nil
}

// SignBody signs a case.
type SignBody struct {
	Meaning  rimewatch.SignatureMeaning `json:"meaning" enum:"performed,reviewed,approved"`
	Email    string                     `json:"email,omitempty" maxLength:"254" doc:"One's own, for the first signature of a session."`
	Password string                     `json:"password,omitempty" maxLength:"256"`
	Code     string                     `json:"code,omitempty" maxLength:"32" doc:"Of the second factor, instead of the password."`
}

func (a *api) signCase(ctx context.Context, in *httpapi.IDBody[SignBody]) (CaseData, error) {
	c, b := httpapi.CallOf(ctx), &in.Body
	d, err := a.Reports.Case(ctx, c.Workspace(), in.Number())
	if err != nil {
		return CaseData{}, err
	}
	if err := mayBeSigned(d, c.Principal.UserID, b.Meaning); err != nil {
		return CaseData{}, err
	}
	before, err := a.Store.Records().SignedIn(ctx, c.Principal.SessionID)
	if err != nil {
		return CaseData{}, err
	}
	client := account.Client{UserAgent: c.R.UserAgent(), Address: a.ClientAddr(c.R).String()}
	u, proof, err := a.Signers.ConfirmSigner(ctx, c.Principal, account.SignProof{Email: b.Email, Password: b.Password, Code: b.Code, Client: client}, !before, c.Now)
	if err != nil {
		return CaseData{}, err
	}
	s := rimewatch.Signature{WorkspaceID: c.Workspace(), CaseID: d.Case.ID, At: c.Now, UserID: u.ID, SessionID: c.Principal.SessionID, Name: u.Name, Meaning: b.Meaning, Proof: proof}
	if s.Name == "" {
		s.Name = u.Email
	}
	content := signedContent{Signer: u.ID, Name: s.Name, Meaning: s.Meaning, At: s.At, Subject: d.Subject()}
	if content.Record, err = recordOf(d); err != nil {
		return CaseData{}, err
	}
	text, err := json.Marshal(content)
	if err != nil {
		return CaseData{}, err
	}
	s.Content = string(text)
	if err := a.Store.Records().SignCase(ctx, &s, len(d.Actions)+len(d.Attachments)); err != nil {
		return CaseData{}, err
	}
	return a.caseData(ctx, d.Case.ID)
}

// mayBeSigned reports why a person cannot sign a case with a meaning.
func mayBeSigned(d *report.Dossier, person int64, meaning rimewatch.SignatureMeaning) error {
	switch {
	case d.Case.To == 0:
		return rimewatch.Errorf(rimewatch.CodeConflict, "The case still lasts: it can be signed when it is over.")
	case len(d.Actions) == 0:
		return rimewatch.Errorf(rimewatch.CodeConflict, "Nothing that was done is on record yet: record it, and sign it then.")
	case meaning == rimewatch.MeaningPerformed:
		return nil
	}
	performed := slices.ContainsFunc(d.Actions, func(x rimewatch.CorrectiveAction) bool { return x.Performed.IsPerson(person) }) ||
		slices.ContainsFunc(d.Signatures, func(s rimewatch.Signature) bool {
			return s.UserID == person && s.Meaning == rimewatch.MeaningPerformed
		})
	if performed {
		return rimewatch.Invalid("meaning", "must be performed: whoever did it cannot review or approve it")
	}
	return nil
}
