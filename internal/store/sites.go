package store

import (
	"context"

	"github.com/rimewatch/rimewatch"
)

type sitesKey struct{}

// WithSites limits the calls that ctx is given to, where they heed it, to sites.
func WithSites(ctx context.Context, s rimewatch.Sites) context.Context {
	return context.WithValue(ctx, sitesKey{}, s)
}

// SitesOf returns the sites that WithSites has limited ctx to, nil = no limit.
func SitesOf(ctx context.Context) rimewatch.Sites {
	s, _ := ctx.Value(sitesKey{}).(rimewatch.Sites)
	return s
}
