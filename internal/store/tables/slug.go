package tables

import (
	"context"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/rimewatch/rimewatch"
)

// slugSQL makes the table of every slug that a workspace has or had: links with an old one still lead there.
const slugSQL = `CREATE TABLE workspace_slug (
	slug TEXT PRIMARY KEY,
	workspace_id INTEGER NOT NULL REFERENCES workspace(id)
) STRICT, WITHOUT ROWID`

// slugUpgradeSQL is the step by which workspaces have slugs; giveSlugs fills them.
const slugUpgradeSQL = slugSQL + `;
ALTER TABLE workspace ADD COLUMN slug TEXT NOT NULL DEFAULT ''`

func errSlugTaken() error {
	return rimewatch.Errorf(rimewatch.CodeConflict, "Another workspace has or had this address.").With("slug", "is taken")
}

// slugOf returns a slug made of a name: its letters and digits without accents, in other scripts "workspace".
func slugOf(name string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(name)) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case unicode.Is(unicode.Mn, r) || r == '\'' || r == '’':
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	s := strings.Trim(b.String()[:min(b.Len(), rimewatch.MaxSlugLen)], "-")
	if rimewatch.CheckSlug(s) != nil {
		return "workspace"
	}
	return s
}

// freeSlug returns a slug made of a name that no workspace has or had.
func freeSlug(conn Conn, name string) (string, error) {
	base := slugOf(name)
	for n := 1; ; n++ {
		s := base
		if n > 1 {
			end := "-" + strconv.Itoa(n)
			s = strings.TrimRight(base[:min(len(base), rimewatch.MaxSlugLen-len(end))], "-") + end
		}
		of, err := slugHolder(conn, s)
		if err != nil || of == 0 {
			return s, err
		}
	}
}

// slugHolder returns the workspace that has or had a slug, 0 = none.
func slugHolder(conn Conn, slug string) (id int64, err error) {
	err = each(conn, "SELECT workspace_id FROM workspace_slug WHERE slug = ?", func(row Row) { id = row.ColumnInt64(0) }, slug)
	return id, err
}

// takeSlug keeps a slug for a workspace for as long as that exists.
func takeSlug(conn Conn, id int64, slug string) error {
	of, err := slugHolder(conn, slug)
	switch {
	case err != nil || of == id:
		return err
	case of != 0:
		return errSlugTaken()
	}
	_, err = exec(conn, "INSERT INTO workspace_slug (slug, workspace_id) VALUES (?, ?)", slug, id)
	return err
}

// giveSlugs stores a slug for each workspace of a version that had none.
func giveSlugs(conn Conn) error {
	type one struct {
		id   int64
		name string
	}
	var list []one
	err := each(conn, "SELECT id, name FROM workspace WHERE slug = '' ORDER BY id", func(row Row) { list = append(list, one{row.ColumnInt64(0), row.ColumnText(1)}) })
	for _, w := range list {
		var slug string
		if err == nil {
			slug, err = freeSlug(conn, w.name)
		}
		if err == nil {
			err = takeSlug(conn, w.id, slug)
		}
		if err == nil {
			_, err = exec(conn, "UPDATE workspace SET slug = ? WHERE id = ?", slug, w.id)
		}
	}
	return err
}

// rewrite11 changes the rows of a store of schema 10.
func rewrite11(conn Conn) error {
	if err := FoldSenders(conn); err != nil {
		return err
	}
	return giveSlugs(conn)
}

// WorkspaceBySlug implements store.Control.
func (t Places) WorkspaceBySlug(ctx context.Context, slug string) (w rimewatch.Workspace, err error) {
	if rimewatch.CheckSlug(slug) != nil {
		return w, errWorkspace()
	}
	return workspaceTable.first(ctx, t.base, "id = (SELECT workspace_id FROM workspace_slug WHERE slug = ?)", slug)
}
