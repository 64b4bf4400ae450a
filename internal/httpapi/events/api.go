package events

import (
	"context"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Store keeps events and webhooks.
type Store interface {
	Outbox() store.Outbox
	ViewAlert(ctx context.Context, a *rimewatch.Alert) (rimewatch.AlertView, error)
}

// data describes the data of an event.
type data map[string]any

// Schema implements huma.SchemaProvider.
func (data) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Description: "By the type: device (with changed, the names of the settings that were), alert (with by and note), " +
		"device and excursion (withdrawn: the id of one that never was), work_order, source and sender, token. The objects are as elsewhere in the API."}
}

// Config of the resources.
type Config struct {
	Store     Store
	Notifier  Notifier
	CursorKey [32]byte // keeps cursors from being forged
}

// api is what the routes share.
type api struct {
	*httpapi.API
	Config
	cursors  httpapi.CursorCodec
	pings    *httpapi.Limiter // sent by hand per workspace
	webhooks *httpapi.Resource[rimewatch.Webhook]
}

// Routes returns the routes of events and webhooks.
func Routes(cfg Config) httpapi.Part {
	return func(frame *httpapi.API) []httpapi.Route {
		frame.DescribeAs(reflect.TypeFor[wire.EventData](), reflect.TypeFor[data]())
		a := &api{API: frame, Config: cfg, cursors: httpapi.CursorCodec{Key: cfg.CursorKey}, pings: httpapi.NewLimiter(pingsPerMinute, pingBurst, "workspace")}
		return slices.Concat(a.feedRoutes(), a.webhookRoutes())
	}
}
