package account

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Refusal is a request that was refused for want of rights, or since there were too
// many.
type Refusal struct {
	Code    rimewatch.Code // CodeUnauthenticated, CodeForbidden or CodeRateLimited
	Request string         // method and route
	Address string         // that it came from
}

// refusals counts refusals within refusalWindow.
type refusals struct {
	store Store
	log   *slog.Logger
	mu    sync.Mutex
	known failureCount[refusalKey] // by who was refused
	other failureCount[string]     // of unknown callers, by address
}

type refusalKey struct {
	workspaceID, userID, tokenID int64
	code                         rimewatch.Code
}

func (r *refusals) init(s Store, log *slog.Logger) {
	r.store, r.log = s, log
	r.known = newFailureCount[refusalKey](refusalWindow, signInKeys)
	r.other = newFailureCount[string](refusalWindow, signInKeys)
}

// recorded reports whether the n-th of an hour is recorded: the first, the second, the
// fourth and so on, so that the trail and the log cannot be flooded.
func recorded(n int) bool { return n&(n-1) == 0 }

// Refused records a refused request in the audit trail of its workspace. p is whose
// request it was, also that of a token that has ended; a request of an unknown
// sender is logged instead. The request stays refused when that fails.
func (r *refusals) Refused(ctx context.Context, p Principal, x Refusal, now rimewatch.Time) {
	r.mu.Lock()
	var n int
	if p.WorkspaceID == 0 {
		n = r.other.add(x.Address, 1, now).n
	} else {
		n = r.known.add(refusalKey{p.WorkspaceID, p.UserID, p.TokenID, x.Code}, 1, now).n
	}
	r.mu.Unlock()
	switch {
	case !recorded(n):
	case p.WorkspaceID == 0:
		r.log.Warn("requests without a valid token or session are refused", "address", x.Address, "request", x.Request, "in_this_hour", n)
	default:
		who, subject := "token "+p.TokenName, fmt.Sprintf("token %d", p.TokenID)
		if p.UserID != 0 {
			subject = fmt.Sprintf("user %d", p.UserID)
			who = subject
			if u, err := r.store.People().User(ctx, p.UserID); err == nil {
				who = u.Label()
			}
		}
		detail := store.Fields{"code": x.Code, "request": x.Request, "address": x.Address, "in_this_hour": n}
		if err := r.store.Audit().AuditWorkspace(store.WithActor(store.WithAnswer(ctx, nil), who), p.WorkspaceID, "request.refused", subject, detail); err != nil {
			r.log.Warn("audit a refused request", "workspace", p.WorkspaceID, "error", err)
		}
	}
}
