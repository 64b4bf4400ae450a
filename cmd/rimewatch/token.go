package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/store"
)

type tokenCmd struct {
	Create tokenCreateCmd `cmd:"" help:"Create a token and print only the token."`
	List   tokenListCmd   `cmd:"" help:"List the tokens of a workspace."`
	Revoke tokenRevokeCmd `cmd:"" help:"Revoke a token, by its number or its first characters."`
}

type tokenCreateCmd struct {
	dataFlag
	workspaceFlag
	Create  bool   `help:"Create the workspace, and the store, if they do not exist."`
	Name    string `required:"" placeholder:"LABEL" help:"What the token is for."`
	Scopes  string `default:"full" placeholder:"SCOPES" help:"full, admin (what an admin does), ingest (devices that report), read, or single scopes separated by commas."`
	Expires string `placeholder:"SPAN" help:"Validity, such as 90d or 12h. Default: until revoked."`
}

// Help is shown by token create --help.
func (tokenCreateCmd) Help() string {
	return `Works with the server running or not; a running server knows the token at once.

  TOKEN=$(rimewatch token create --workspace "My Market" --create --name gateway --scopes ingest)`
}

// Run makes the token.
func (c *tokenCreateCmd) Run(ctx context.Context, s streams) error {
	scopes, err := rimewatch.ParseScopes(strings.Split(c.Scopes, ","))
	if err != nil {
		return usagef("--scopes: %w", plain(err))
	}
	var valid time.Duration
	if c.Expires != "" {
		if valid, err = parseSpan(c.Expires); err != nil {
			return usagef("--expires %q: want a duration such as 90d or 12h", c.Expires)
		}
	}
	if err := c.mustExistUnless(c.Create, s.err); err != nil {
		return err
	}
	return c.accounts(ctx, func(ctx context.Context, a *account.Service, now rimewatch.Time) error {
		p, err := c.operator(ctx, a, &c.Create, now)
		if err != nil {
			return err
		}
		r := account.TokenRequest{Name: c.Name, Scopes: scopes}
		if valid > 0 {
			r.ExpiresAt = now.Add(valid)
		}
		_, token, err := a.CreateToken(ctx, p, r, now)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(s.out, token)
		return err
	})
}

type tokenListCmd struct {
	dataFlag
	workspaceFlag
	JSON bool `help:"Print JSON."`
}

// Run lists the tokens that are not revoked.
func (c *tokenListCmd) Run(ctx context.Context, s streams) error {
	if err := c.mustExist(); err != nil {
		return err
	}
	return c.accounts(ctx, func(ctx context.Context, a *account.Service, now rimewatch.Time) error {
		list, err := c.tokens(ctx, a, now)
		if err != nil {
			return err
		}
		if c.JSON {
			return printTokensJSON(s.out, list)
		}
		return printTokens(s.out, list, now)
	})
}

func (f *workspaceFlag) tokens(ctx context.Context, a *account.Service, now rimewatch.Time) ([]store.TokenView, error) {
	p, err := f.operator(ctx, a, nil, now)
	if err != nil {
		return nil, err
	}
	return a.Tokens(ctx, p)
}

func printTokens(w io.Writer, list []store.TokenView, now rimewatch.Time) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tNAME\tTOKEN\tSCOPES\tCREATED BY\tCREATED\tLAST USED\tEXPIRES")
	for i := range list {
		v := &list[i]
		by := v.CreatedByName
		if by == "" {
			by = "command line"
		}
		expires := when(v.ExpiresAt, "never")
		if v.ExpiresAt != 0 && v.ExpiresAt <= now {
			expires = "expired"
		}
		fmt.Fprintf(t, "%d\t%s\t%s…\t%s\t%s\t%s\t%s\t%s\n", v.ID, v.Name, v.Prefix, scopeText(v.Scopes), by, when(v.CreatedAt, ""), when(v.LastUsedAt, "never"), expires)
	}
	return t.Flush()
}

func when(t rimewatch.Time, never string) string {
	if t == 0 {
		return never
	}
	return t.Std().Format("2006-01-02 15:04")
}

// scopeText is the preset of that name, or the single scopes.
func scopeText(s rimewatch.Scopes) string {
	switch s {
	case rimewatch.ScopesAdmin:
		return "admin"
	case rimewatch.ScopesFull:
		return "full"
	case rimewatch.ScopesIngest:
		return "ingest"
	case rimewatch.ScopesRead:
		return "read"
	default:
		return strings.Join(s.Names(), ",")
	}
}

func printTokensJSON(w io.Writer, list []store.TokenView) error {
	type token struct {
		ID         int64          `json:"id"`
		Name       string         `json:"name"`
		Prefix     string         `json:"prefix"`
		Scopes     []string       `json:"scopes"`
		CreatedAt  rimewatch.Time `json:"created_at"`
		LastUsedAt rimewatch.Time `json:"last_used_at"`
		ExpiresAt  rimewatch.Time `json:"expires_at"`
	}
	out := make([]token, len(list))
	for i := range list {
		v := &list[i]
		out[i] = token{v.ID, v.Name, v.Prefix, v.Scopes.Names(), v.CreatedAt, v.LastUsedAt, v.ExpiresAt}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(out)
}

type tokenRevokeCmd struct {
	dataFlag
	workspaceFlag
	Token string `arg:"" help:"Number, first characters, or the whole token."`
}

// Run revokes the token.
func (c *tokenRevokeCmd) Run(ctx context.Context, s streams) error {
	if err := c.mustExist(); err != nil {
		return err
	}
	return c.accounts(ctx, func(ctx context.Context, a *account.Service, now rimewatch.Time) error {
		list, err := c.tokens(ctx, a, now)
		if err != nil {
			return err
		}
		v, err := findToken(list, c.Token)
		if err != nil {
			return err
		}
		if err := a.RevokeToken(ctx, account.Operator(v.WorkspaceID), v.ID, now); err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.out, "Revoked %q (%s…).\n", v.Name, v.Prefix)
		return err
	})
}

// findToken finds the one token that is meant.
func findToken(list []store.TokenView, what string) (*store.TokenView, error) {
	id, err := strconv.ParseInt(what, 10, 64)
	byNumber := err == nil
	var found *store.TokenView
	for i := range list {
		v := &list[i]
		switch {
		case byNumber && v.ID == id:
			return v, nil
		case byNumber || len(what) < len(rimewatch.TokenPrefix)+1:
			continue
		case len(what) == rimewatch.TokenLen:
			if v.Hash == rimewatch.HashToken(what) {
				return v, nil
			}
		case strings.HasPrefix(v.Prefix, what) || strings.HasPrefix(what, v.Prefix):
			if found != nil {
				return nil, fmt.Errorf("more than one token begins with %s: use its number", what)
			}
			found = v
		}
	}
	if found == nil {
		return nil, fmt.Errorf("there is no such token in the workspace; 'rimewatch token list' shows them")
	}
	return found, nil
}

// parseSpan is time.ParseDuration for positive spans that also knows days.
func parseSpan(s string) (time.Duration, error) {
	unit := time.Duration(1)
	text := s
	if days, ok := strings.CutSuffix(s, "d"); ok {
		text, unit = days+"h", 24
	}
	d, err := time.ParseDuration(text)
	if err == nil && (d <= 0 || d > 100*365*24*time.Hour/unit) {
		err = fmt.Errorf("%q is not a positive duration", s)
	}
	return d * unit, err
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
