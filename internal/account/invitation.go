package account

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// InvitationLife is how long the link of an invitation works.
const InvitationLife = 7 * rimewatch.Day

// How many invitations are mailed within inviteWindow: so many of a workspace,
// by one person of it, and to one address whoever invites it. A chain that opens
// forty stores gets its managers in within a day; nobody sends what he likes to
// whom he likes.
const (
	inviteWindow    = rimewatch.Hour
	invitesOfSpace  = 60
	invitesByPerson = 30
	invitesToOne    = 3
)

// inviteKey is the key that mails are counted by; one field of it is set.
type inviteKey struct {
	workspaceID, userID int64
	email               string
}

// inviteMails limits the mails of invitations.
type inviteMails struct {
	mu   sync.Mutex
	sent failureCount[inviteKey]
}

// take counts a mail before it is sent, and returns the function that takes it back. When
// there were enough it counts nothing: CodeRateLimited.
func (l *inviteMails) take(p Principal, email string, now rimewatch.Time) (giveBack func(), err error) {
	most := map[inviteKey]int{{workspaceID: p.WorkspaceID}: invitesOfSpace, {email: email}: invitesToOne}
	if by := p.person(); by != 0 {
		most[inviteKey{userID: by}] = invitesByPerson
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var wait time.Duration
	for key, n := range most {
		wait = max(wait, l.sent.wait(key, n, now))
	}
	if wait > 0 {
		return nil, &rimewatch.Error{Code: rimewatch.CodeRateLimited, Message: "Too many invitations have been sent; try again later.", RetryAfter: wait}
	}
	count := func(n int) {
		for key := range most {
			l.sent.add(key, n, now)
		}
	}
	count(1)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		count(-1)
	}, nil
}

// InviteRequest describes an invitation to the principal's workspace.
type InviteRequest struct {
	Email string
	Role  rimewatch.Role
	Sites rimewatch.Sites // that the membership is limited to, nil = all
}

// Invite offers the holder of an address a membership of the principal's
// workspace. Whether the address has an account makes no difference to what the
// inviter learns. Where the service sends mail the link goes to the address and
// link is empty; otherwise link is the secret, which Accept and AcceptAsNew
// take and which is returned here and never again. Needs the role admin, and
// owner to invite an owner. CodeConflict on email when that person is a member
// or is invited already; CodeValidationFailed with the fields email, role;
// CodeRateLimited when too many were mailed; CodeUnavailable when the mail cannot
// be sent.
func (s *Service) Invite(ctx context.Context, p Principal, r InviteRequest, now rimewatch.Time) (v store.Invitation, link string, err error) {
	if err := s.mayManage(p, r.Role); err != nil {
		return v, "", err
	}
	sites, err := s.knownSites(ctx, p, r.Sites)
	if err != nil {
		return v, "", err
	}
	secret, hash, err := s.newSecret()
	if err != nil {
		return v, "", err
	}
	v = store.Invitation{
		WorkspaceID: p.WorkspaceID, Email: normalEmail(r.Email), Role: r.Role, Sites: sites, Hash: hash,
		InvitedBy: p.person(), CreatedAt: now, ExpiresAt: now + InvitationLife,
	}
	giveBack, err := s.mayMail(ctx, p, v.Email, now)
	if err != nil {
		return store.Invitation{}, "", err
	}
	if err := s.store.People().CreateInvitation(ctx, &v); err != nil {
		giveBack() // nothing was sent
		return store.Invitation{}, "", err
	}
	if secret, err = s.handOut(ctx, p, hash, secret, now); err != nil {
		return store.Invitation{}, "", errors.Join(err, s.store.People().DeleteInvitation(ctx, p.WorkspaceID, v.ID))
	}
	return v, secret, nil
}

// mayMail counts the mail of an invitation against the bounds, where the service
// sends mail.
func (s *Service) mayMail(ctx context.Context, p Principal, email string, now rimewatch.Time) (giveBack func(), err error) {
	if !s.SendsMail(ctx) {
		return func() {}, nil
	}
	return s.invites.take(p, email, now)
}

// handOut sends the link of an invitation where the service sends mail, in the
// language of who sends it; otherwise it returns the secret for them.
func (s *Service) handOut(ctx context.Context, p Principal, hash [32]byte, secret string, now rimewatch.Time) (string, error) {
	if !s.SendsMail(ctx) {
		return secret, nil
	}
	v, err := s.store.People().Invitation(ctx, hash, now)
	if err != nil {
		return "", err
	}
	return "", s.mailInvitation(ctx, &v, secret, p.Locale.Language)
}

// Invitations lists the invitations to the principal's workspace that were not
// accepted yet, expired ones included. Needs the role admin.
func (s *Service) Invitations(ctx context.Context, p Principal) ([]store.InvitationView, error) {
	if err := p.Require(rimewatch.ScopeMembers); err != nil {
		return nil, err
	}
	return s.store.People().Invitations(ctx, p.WorkspaceID)
}

// manageInvitation returns an invitation that p may renew or withdraw:
// CodeNotFound, CodeForbidden.
func (s *Service) manageInvitation(ctx context.Context, p Principal, id int64) (store.InvitationView, error) {
	all, err := s.Invitations(ctx, p)
	if err != nil {
		return store.InvitationView{}, err
	}
	for _, v := range all {
		if v.ID == id {
			return v, s.mayManage(p, v.Role)
		}
	}
	return store.InvitationView{}, rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such invitation.")
}

// RenewInvitation replaces the link of an invitation, with a new expiry; the
// old link stops working. The rest is as with Invite. CodeNotFound.
func (s *Service) RenewInvitation(ctx context.Context, p Principal, id int64, now rimewatch.Time) (v store.Invitation, link string, err error) {
	old, err := s.manageInvitation(ctx, p, id)
	if err != nil {
		return v, "", err
	}
	secret, hash, err := s.newSecret()
	if err != nil {
		return v, "", err
	}
	if _, err := s.mayMail(ctx, p, old.Email, now); err != nil {
		return v, "", err
	}
	v, err = s.store.People().RenewInvitation(ctx, p.WorkspaceID, id, hash, now+InvitationLife)
	if err != nil {
		return v, "", err
	}
	secret, err = s.handOut(ctx, p, hash, secret, now)
	return v, secret, err
}

// WithdrawInvitation ends an invitation before it is accepted. Needs the role
// admin, and owner for the invitation of an owner. CodeNotFound.
func (s *Service) WithdrawInvitation(ctx context.Context, p Principal, id int64) error {
	if _, err := s.manageInvitation(ctx, p, id); err != nil {
		return err
	}
	return s.store.People().DeleteInvitation(ctx, p.WorkspaceID, id)
}

func errInvitation() error {
	return rimewatch.Errorf(rimewatch.CodeNotFound, "This invitation has been used, withdrawn or replaced, or has expired.")
}

// Invitation finds the invitation of a link: CodeNotFound when
// the link does not work.
func (s *Service) Invitation(ctx context.Context, secret string, now rimewatch.Time) (store.InvitationView, error) {
	hash, ok := hashSecret(secret)
	if !ok {
		return store.InvitationView{}, errInvitation()
	}
	v, err := s.store.People().Invitation(ctx, hash, now)
	return v, notFoundIs(err, errInvitation)
}

// Accept makes the signed-in person a member of the workspace that invited the
// person's address, and makes the session look at it. CodeNotFound when the
// link does not work; CodeForbidden when the invitation is for another address.
func (s *Service) Accept(ctx context.Context, p Principal, secret string, now rimewatch.Time) (rimewatch.Member, error) {
	if err := p.RequirePerson(); err != nil {
		return rimewatch.Member{}, err
	}
	hash, ok := hashSecret(secret)
	if !ok {
		return rimewatch.Member{}, errInvitation()
	}
	u, err := s.store.People().User(ctx, p.UserID)
	if err != nil {
		return rimewatch.Member{}, err
	}
	m, err := s.store.People().AcceptInvitation(ctx, hash, &u, now)
	if err != nil {
		return m, notFoundIs(err, errInvitation)
	}
	return m, s.store.People().SetSessionWorkspace(ctx, p.UserID, p.SessionID, m.WorkspaceID)
}

// NewPerson is who accepts an invitation without having an account.
type NewPerson struct {
	Name     string
	Password string
	Client   Client
}

// AcceptAsNew makes an account for the invited address, a member of the
// workspace that invited, and signs it in. CodeNotFound when the link does not
// work; CodeConflict when the address has an account, whose holder signs in and
// accepts; CodeValidationFailed with the fields name, password.
func (s *Service) AcceptAsNew(ctx context.Context, secret string, r NewPerson, now rimewatch.Time) (SignedIn, error) {
	v, err := s.Invitation(ctx, secret, now) // before the work of hashing
	if err != nil {
		return SignedIn{}, err
	}
	u := newUser(v.Email, r.Name, now)
	if err := gather(checkPassword(r.Password, u.Email, u.Name), u.Check()); err != nil {
		return SignedIn{}, err
	}
	if u.PasswordHash, err = s.hasher.hash(ctx, s.rand, r.Password); err != nil {
		return SignedIn{}, err
	}
	m, err := s.store.People().AcceptInvitation(ctx, v.Hash, &u, now)
	if rimewatch.CodeOf(err) == rimewatch.CodeConflict {
		return SignedIn{}, rimewatch.Errorf(rimewatch.CodeConflict, "This address has an account: sign in and accept the invitation.")
	}
	if err != nil {
		return SignedIn{}, notFoundIs(err, errInvitation)
	}
	return s.startSession(ctx, &u, terms{workspaceID: m.WorkspaceID}, r.Client, now)
}
