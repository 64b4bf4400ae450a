package store

import (
	"context"

	"github.com/rimewatch/rimewatch"
)

// Control keeps workspaces and sites, and has who may come in. Every change is
// durable when the call returns. Names of workspaces (rimewatch.TextKey) and e-mail
// addresses (rimewatch.EmailKey) are unique without case; a clash is CodeConflict. Text that cannot be
// kept (see the Check methods) is CodeValidationFailed. Creating
// sets the ID, and what it belongs to must exist (CodeNotFound). Updating keeps
// ids and times of creation; change runs inside the transaction, must not call
// the store, and its error leaves everything as it was. Lists are by id. Another
// process may change these tables at any time.
type Control interface {
	CreateWorkspace(ctx context.Context, w *rimewatch.Workspace) error
	UpdateWorkspace(ctx context.Context, id int64, change func(*rimewatch.Workspace) error) (rimewatch.Workspace, error)
	Workspace(ctx context.Context, id int64) (rimewatch.Workspace, error)
	WorkspaceByName(ctx context.Context, name string) (rimewatch.Workspace, error)
	// WorkspaceBySlug finds one by the slug that it has or had. A slug that another workspace has or
	// had is CodeConflict on slug.
	WorkspaceBySlug(ctx context.Context, slug string) (rimewatch.Workspace, error)
	// Logo returns that of a workspace, without Data where it has none.
	Logo(ctx context.Context, workspaceID int64) (rimewatch.Logo, error)
	// SetLogo keeps one, or none where it is without Data.
	SetLogo(ctx context.Context, workspaceID int64, l rimewatch.Logo) (rimewatch.Workspace, error)
	Workspaces(ctx context.Context) ([]rimewatch.Workspace, error)
	// CloseWorkspace ends all access to a workspace whose DeleteAt has come: its
	// members, invitations and tokens, whose ids are returned, are gone, and its
	// sources take nothing. CodeConflict before that moment.
	CloseWorkspace(ctx context.Context, id int64) (tokens []int64, err error)
	// EraseWorkspace deletes everything of a workspace whose DeleteAt has come and
	// whose devices are deleted: CodeConflict otherwise. The audit trail goes, too.
	// An erasure that fails goes on at the next call.
	EraseWorkspace(ctx context.Context, id int64) error

	// Sites are places with devices. One that is deleted leaves its devices and sources
	// without a site; its contacts are gone, and its reports are not sent any more.
	Sites() Resource[rimewatch.Site]
	// Contacts need their site (CodeValidationFailed).
	Contacts() Resource[rimewatch.Contact]
	// Acts returns the requests of people that may still be taken back.
	Acts() Resource[rimewatch.Act]
	// People has who may come in.
	People() People

	// Address returns the address of the installation for people, without a slash at its end; "" = not set.
	Address(ctx context.Context) (string, error)
	// SetAddress changes it, "" = it is not known any more. It stands in the trail of every workspace.
	SetAddress(ctx context.Context, address string) error
}

// People keeps users, members and invitations, second factors, identities, sessions and
// tokens. The rules of Control hold.
type People interface {
	CreateUser(ctx context.Context, u *rimewatch.User) error
	UpdateUser(ctx context.Context, id int64, change func(*rimewatch.User) error) (rimewatch.User, error)
	User(ctx context.Context, id int64) (rimewatch.User, error)
	UserByEmail(ctx context.Context, email string) (rimewatch.User, error)
	UserCount(ctx context.Context) (int, error)
	// EraseUser deletes a person with all that only concerns the person, and ends
	// memberships as DeleteMember does; the audit trails stay as they are. It
	// refuses (CodeConflict) where the person is a workspace's only owner.
	EraseUser(ctx context.Context, userID int64, now rimewatch.Time) (tokens []int64, err error)
	// CreateFirstOwner makes, in one step, the first user and the owner of w: a
	// workspace of that name is taken over, a missing one created. CodeConflict
	// once any user exists, so that of two set-ups at once one wins.
	CreateFirstOwner(ctx context.Context, w *rimewatch.Workspace, u *rimewatch.User) error
	// SetPassword changes a password and, in the same step, ends all of the
	// user's sessions and password links.
	SetPassword(ctx context.Context, userID int64, passwordHash string, now rimewatch.Time) error

	// CreatePasswordLink keeps a link for setting a forgotten password; it
	// replaces the user's earlier one.
	CreatePasswordLink(ctx context.Context, l *PasswordLink) error
	// PasswordLink finds one that has not expired by the hash of its secret.
	PasswordLink(ctx context.Context, hash [32]byte, now rimewatch.Time) (PasswordLink, error)
	// UsePasswordLink is SetPassword for the link's user. It works once:
	// CodeNotFound when the link is used, replaced or expired.
	UsePasswordLink(ctx context.Context, hash [32]byte, passwordHash string, now rimewatch.Time) error

	// CreateInvitation keeps an invitation: CodeConflict on email when the holder
	// of the address is a member of the workspace or is invited to it already.
	CreateInvitation(ctx context.Context, v *Invitation) error
	// RenewInvitation replaces the secret and the expiry of an invitation; the
	// old secret stops working.
	RenewInvitation(ctx context.Context, workspaceID, id int64, hash [32]byte, expires rimewatch.Time) (Invitation, error)
	DeleteInvitation(ctx context.Context, workspaceID, id int64) error
	// Invitations lists those that are not accepted yet, expired ones included.
	Invitations(ctx context.Context, workspaceID int64) ([]InvitationView, error)
	// Invitation finds one that has not expired by the hash of its secret.
	Invitation(ctx context.Context, hash [32]byte, now rimewatch.Time) (InvitationView, error)
	// AcceptInvitation makes u a member and ends the invitation, in one step: of
	// several at once one wins, the others get CodeNotFound. u.ID == 0 makes the
	// user: CodeConflict when the address has an account. CodeForbidden when the
	// invitation is for another address than u's. A member keeps the role that
	// he has.
	AcceptInvitation(ctx context.Context, hash [32]byte, u *rimewatch.User, now rimewatch.Time) (rimewatch.Member, error)

	// SecondFactor finds a person's second factor: CodeNotFound.
	SecondFactor(ctx context.Context, userID int64) (SecondFactor, error)
	// BeginSecondFactor keeps a secret that is not confirmed; it replaces another
	// such one. CodeConflict when the person has a confirmed one.
	BeginSecondFactor(ctx context.Context, userID int64, secret []byte) error
	// ConfirmSecondFactor makes the secret count, with new recovery codes, from
	// the time step on whose code was shown: CodeConflict when it does already.
	ConfirmSecondFactor(ctx context.Context, userID int64, step int64, codes [][32]byte, now rimewatch.Time) error
	// UseStep records that the code of a time step was used: CodeConflict when
	// that code or a later one was used before.
	UseStep(ctx context.Context, userID, step int64) error
	// UseRecoveryCode spends a recovery code and returns how many are left:
	// CodeNotFound.
	UseRecoveryCode(ctx context.Context, userID int64, hash [32]byte) (left int, err error)
	// ReplaceRecoveryCodes replaces all recovery codes of a person.
	ReplaceRecoveryCodes(ctx context.Context, userID int64, codes [][32]byte) error
	// DeleteSecondFactor removes secret and recovery codes: CodeNotFound.
	DeleteSecondFactor(ctx context.Context, userID int64) error

	// AdmitIdentity finds or makes the person whom a provider has named, and makes
	// the memberships that the provider has given (Provided) those of Grants, that of
	// a workspace's last owner, too. Those that people have given stay as they are.
	// A person who is new to the provider is the one with the same address, or a new
	// one. Whoever has a password is admitted only once it was shown (Proven), and
	// has none from then on, unless BreakGlass: ErrUnproven otherwise. CodeForbidden
	// when the person would be a member nowhere, whose sessions then end, or is known
	// to the provider by another subject. A refusal takes back nothing of what has
	// ended: Admitted says what.
	AdmitIdentity(ctx context.Context, a Admission) (Admitted, error)
	// LeaveProvider makes a person a local one, for the operator: no provider names
	// the person any more, and the memberships that one has given stay as they are.
	LeaveProvider(ctx context.Context, userID int64) error
	// SetBreakGlass makes a person the one who keeps a password, in place of another.
	SetBreakGlass(ctx context.Context, userID int64) error

	// Lapsing lists the people who sign in at a provider alone and have tokens that
	// do more than send readings.
	Lapsing(ctx context.Context) ([]Lapse, error)
	// PutLapse replaces was by is, and adds an entry to the trails of the person's
	// workspaces where detail is not nil; false when was is not so any more.
	PutLapse(ctx context.Context, was, is Lapse, detail Fields) (bool, error)
	// EndLapsed narrows the tokens of a person to sending readings, and ends those
	// that cannot send any; nothing when was is not so any more.
	EndLapsed(ctx context.Context, was Lapse, now rimewatch.Time) ([]Withdrawal, error)
	// Ownerless lists the workspaces that have no owner and are not about to be erased.
	Ownerless(ctx context.Context) ([]rimewatch.Workspace, error)

	// PutMember that lowers a role also ends the invitations that the member
	// made for the workspace.
	PutMember(ctx context.Context, m *rimewatch.Member) error
	// DeleteMember ends, in the same step, the tokens and the invitations that
	// the member made for the workspace, and returns the ids of those tokens. It
	// refuses (CodeConflict) to remove the last owner; so does PutMember that
	// would demote one.
	DeleteMember(ctx context.Context, workspaceID, userID int64, now rimewatch.Time) (tokens []int64, err error)
	Members(ctx context.Context, workspaceID int64) ([]MemberView, error)
	Memberships(ctx context.Context, userID int64) ([]MembershipView, error)

	CreateSession(ctx context.Context, s *Session) error
	// Session finds one that has not expired by the hash of its secret.
	Session(ctx context.Context, hash [32]byte, now rimewatch.Time) (Session, error)
	// TouchSession records a use; an older time never replaces a newer one.
	TouchSession(ctx context.Context, id int64, lastUsed, expires rimewatch.Time) error
	Sessions(ctx context.Context, userID int64, now rimewatch.Time) ([]Session, error)
	DeleteSession(ctx context.Context, userID, id int64) error
	// DeleteSessions ends all of a user's sessions but one (0 = none is kept).
	DeleteSessions(ctx context.Context, userID, keep int64) error
	// SetSessionWorkspace makes a session look at another of its user's
	// workspaces; CodeNotFound when the user is no member there.
	SetSessionWorkspace(ctx context.Context, userID, id, workspaceID int64) error
	// DeleteExpired drops sessions and password links that have expired, answers
	// after AnswerLife, acts that were settled ActLife ago, requests of tokens after TokenCallLife, and invitations that have expired for InvitationGrace.
	DeleteExpired(ctx context.Context, now rimewatch.Time) error

	CreateToken(ctx context.Context, t *rimewatch.Token) error
	// TokenByHash finds a token whether or not it is still valid.
	TokenByHash(ctx context.Context, hash [32]byte) (rimewatch.Token, error)
	Tokens(ctx context.Context, workspaceID int64) ([]TokenView, error)
	// RevokeToken is idempotent: the first time of revocation is kept.
	RevokeToken(ctx context.Context, workspaceID, id int64, now rimewatch.Time) error
	// RotateToken makes next, of the same workspace, and has the token id end at until at the
	// latest: CodeNotFound where it was revoked or is of another workspace.
	RotateToken(ctx context.Context, id int64, next *rimewatch.Token, until rimewatch.Time) error
	// TouchTokens records last uses; an older time never replaces a newer one.
	TouchTokens(ctx context.Context, lastUsed map[int64]rimewatch.Time) error
	// AddTokenCalls keeps requests of tokens, of each the newest rimewatch.MaxTokenCalls that were
	// refused and as many others.
	AddTokenCalls(ctx context.Context, list []rimewatch.TokenCall) error
	// TokenCalls lists the requests of a token since a moment, the newest first.
	TokenCalls(ctx context.Context, workspaceID, tokenID int64, since rimewatch.Time) ([]rimewatch.TokenCall, error)
}

// Session is a signed-in browser. Only the hash of its secret is stored.
type Session struct {
	ID          int64
	Hash        [32]byte
	UserID      int64
	WorkspaceID int64 // the one the session looks at
	UserAgent   string
	Address     string
	Strong      bool // signed in with a second factor, or by a provider
	Provided    bool // signed in by a provider: provided memberships count in it
	CreatedAt   rimewatch.Time
	LastUsedAt  rimewatch.Time
	ExpiresAt   rimewatch.Time // moves on with every use, up to EndsAt
	EndsAt      rimewatch.Time
}

// Check reports why s cannot be stored: CodeValidationFailed with the fields
// user_agent, address.
func (s *Session) Check() error {
	e := rimewatch.CheckText(nil, "user_agent", s.UserAgent, rimewatch.MaxUserAgentLen)
	if e = rimewatch.CheckText(e, "address", s.Address, rimewatch.MaxAddressLen); e != nil {
		return e
	}
	return nil
}

// Identification is how a provider names a person.
type Identification struct {
	Issuer, Subject string
}

// Check reports why id cannot be stored: CodeValidationFailed with the fields
// issuer, subject.
func (id Identification) Check() error {
	e := rimewatch.CheckText(nil, "issuer", id.Issuer, maxIssuerLen)
	if e = rimewatch.CheckText(e, "subject", id.Subject, maxSubjectLen); e == nil && (id.Issuer == "" || id.Subject == "") {
		e = rimewatch.Invalid("subject", "must not be empty")
	}
	if e != nil {
		return e
	}
	return nil
}

// Admission is a person whom a provider has named just now.
type Admission struct {
	Identification
	Person rimewatch.User           // as a new person is stored
	Grants map[int64]rimewatch.Role // by workspace
	Proven int64                    // the user whose password was shown just now, 0 = nobody's
	At     rimewatch.Time
}

// Admitted is the result of an Admission.
type Admitted struct {
	User rimewatch.User
	Left []Withdrawal // workspaces whose memberships have ended
}

// Withdrawal is the result of a member's removal for the member's tokens in a workspace.
type Withdrawal struct {
	WorkspaceID int64
	Ended       []rimewatch.Token
	Kept        []rimewatch.Token // only send readings now
}

// Lapse is how long ago somebody's tokens were last vouched for by a provider.
type Lapse struct {
	UserID int64
	Since  rimewatch.Time // last sign-in at a provider, 0 = none is known
	Told   int            // announcements since
}

// ErrUnproven means that an account with a password of its own was named by a
// provider, and the password was not shown.
var ErrUnproven = rimewatch.Errorf(rimewatch.CodeConflict, "There is an account with this address. Sign in with its password first, then at your provider.")

// The longest names of a provider and of a person there, in bytes. OpenID Connect
// allows subjects of 255.
const (
	maxIssuerLen  = 1024
	maxSubjectLen = 255
)

// Invitation offers the holder of an e-mail address one membership in one
// workspace. Only the hash of its secret is stored.
type Invitation struct {
	ID          int64
	WorkspaceID int64
	Email       string // lower case
	Role        rimewatch.Role
	Sites       rimewatch.Sites // that the membership is limited to, nil = all
	Hash        [32]byte
	InvitedBy   int64 // user id, 0 = command line
	CreatedAt   rimewatch.Time
	ExpiresAt   rimewatch.Time
}

// Check reports why v cannot be stored: CodeValidationFailed with the fields
// email or role.
func (v *Invitation) Check() error {
	if e := rimewatch.CheckEmail(nil, v.Email); e != nil {
		return e
	}
	m := rimewatch.Member{Role: v.Role, Sites: v.Sites}
	return m.Check()
}

// SecondFactor is the secret that a person's authenticator app shares with the service
// (TOTP, RFC 6238).
type SecondFactor struct {
	UserID      int64
	Secret      []byte
	ConfirmedAt rimewatch.Time // 0 = not yet: it is not asked for
	LastStep    int64          // newest time step whose code was used
	Codes       int            // recovery codes that are left
}

// InvitationGrace is for how long an expired invitation is listed, so that it
// can be renewed.
const InvitationGrace = 30 * rimewatch.Day

// InvitationView is an invitation with the names that its receiver is shown.
type InvitationView struct {
	Invitation
	WorkspaceName string
	InvitedByName string // "" for the command line
}

// PasswordLink lets a person set a forgotten password once. Only the hash of
// its secret is stored.
type PasswordLink struct {
	Hash      [32]byte
	UserID    int64
	CreatedAt rimewatch.Time
	ExpiresAt rimewatch.Time
}

// MemberView is a member with the person behind it.
type MemberView struct {
	rimewatch.Member
	Email, Name string
}

// MembershipView is a user's place in a workspace with its name.
type MembershipView struct {
	rimewatch.Member
	WorkspaceName       string
	WorkspaceSlug       string
	RequireSecondFactor bool
}

// TokenView is a token with the name of its maker.
type TokenView struct {
	rimewatch.Token
	CreatedByName string // "" for the command line
}

// Store is everything, in parts; consumers declare the parts and the few methods they use.
type Store interface {
	Log
	Fleet
	History
	Alerts
	Control
	Answers

	Routing() Routing
	Outbox() Outbox
	Records() Records
	Inlets() Inlets
	Audit() Audit
	Everywhere() Everywhere

	// Secret returns the 32 random bytes of that name, making them at the first
	// call: every node has the same.
	Secret(ctx context.Context, name string) ([32]byte, error)
	// Stats describes the store for metrics and doctor.
	Stats(ctx context.Context) (Stats, error)
	// Close seals nothing and loses nothing.
	Close() error
}

// Stats are a store's figures.
type Stats struct {
	Devices        int
	HeadReadings   int64 // readings not yet sealed
	HeadBytes      int64
	Chunks         int64
	LogEntries     int64 // commits still in the log
	FileBytes      int64 // bytes on disk, write-ahead log excluded
	WALBytes       int64
	LastSealed     rimewatch.Time
	StoredReadings int64 // readings at rest and in the head
}
