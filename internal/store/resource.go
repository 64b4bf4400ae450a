package store

import (
	"context"
	"slices"

	"github.com/rimewatch/rimewatch"
)

// Resource keeps the things of one kind that the people of a workspace make, change
// and delete, such as sites. The rules of Control hold. A resource may bound how many
// a workspace has: one more is CodeQuotaExceeded. Every change leaves an entry in the
// audit trail. Things of a site heed WithSites.
//
// A thing has a revision, which is 1 at first and grows with every Update; changes
// heed IfRevision.
type Resource[T any] interface {
	// Create sets ID and Revision.
	Create(ctx context.Context, x *T) error
	// Update changes one of a workspace's and returns the new state.
	Update(ctx context.Context, workspaceID, id int64, change func(*T) error) (T, error)
	// Delete is CodeConflict for things that can only end, or while another thing needs it.
	Delete(ctx context.Context, workspaceID, id int64) error
	// Get finds one of a workspace's: CodeNotFound.
	Get(ctx context.Context, workspaceID, id int64) (T, error)
	// List returns all of a workspace, by id.
	List(ctx context.Context, workspaceID int64) ([]T, error)
	// Select returns some of a workspace, by id, and how many there are without the page.
	Select(ctx context.Context, workspaceID int64, s Selection) (list []T, total int, err error)
}

// Selection narrows a list of a Resource. The zero value is all of it.
type Selection struct {
	SiteID   int64            // only things of this site; none of a resource without sites
	Of       int64            // only things of this one, such as keys of a source; none of a resource whose things have no owner
	EndAfter rimewatch.Time   // only spans that end after it; for resources of spans
	Only     map[string][]any // only those of which a column has one of these values; nothing by a column that the resource is not asked by
	Page                      // Limit 0 = all
}

type revisionKey struct{}

// IfRevision has the calls of a Resource that ctx is given to change nothing that has
// none of these revisions: CodePreconditionFailed.
func IfRevision(ctx context.Context, any ...int64) context.Context {
	return context.WithValue(ctx, revisionKey{}, any)
}

// CheckRevision is CodePreconditionFailed where ctx asks for other revisions than n.
func CheckRevision(ctx context.Context, n int64) error {
	if want, ok := ctx.Value(revisionKey{}).([]int64); ok && !slices.Contains(want, n) {
		return rimewatch.Errorf(rimewatch.CodePreconditionFailed, "This was changed after you read it. Read it again.")
	}
	return nil
}

type rehearsalKey struct{}

// Rehearse has the Delete of a Resource that ctx is given find out whether it could, and
// delete nothing.
func Rehearse(ctx context.Context) context.Context {
	return context.WithValue(ctx, rehearsalKey{}, true)
}

// Rehearsed reports whether ctx is of Rehearse.
func Rehearsed(ctx context.Context) bool { return ctx.Value(rehearsalKey{}) != nil }
