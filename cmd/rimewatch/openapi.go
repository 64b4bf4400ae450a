package main

import (
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/httpapi/accounts"
	"github.com/rimewatch/rimewatch/internal/httpapi/events"
	"github.com/rimewatch/rimewatch/internal/httpapi/export"
	"github.com/rimewatch/rimewatch/internal/httpapi/inlets"
	"github.com/rimewatch/rimewatch/internal/httpapi/notifications"
	"github.com/rimewatch/rimewatch/internal/httpapi/push"
	"github.com/rimewatch/rimewatch/internal/httpapi/records"
	"github.com/rimewatch/rimewatch/internal/httpapi/sandbox"
	"github.com/rimewatch/rimewatch/internal/httpapi/submit"
	"github.com/rimewatch/rimewatch/internal/httpapi/v1"
)

type openapiCmd struct {
	PublicURL string `placeholder:"URL" help:"Server address to put into the description."`
}

// Run prints the description that a server of this version serves.
func (c *openapiCmd) Run(s streams) error {
	resources, err := v1.New(v1.Config{})
	if err != nil {
		return err
	}
	api, err := httpapi.New(httpapi.Config{Version: versionName(), PublicURL: c.PublicURL},
		resources.Routes, notifications.Routes(notifications.Config{}), records.Routes(records.Config{}), events.Routes(events.Config{}), submit.New(submit.Config{}).Routes, accounts.Routes(nil, accounts.SignOn{}), inlets.Routes(nil, inlets.Config{}), push.Routes(push.Config{}), export.Routes(nil), sandbox.Routes(nil, nil))
	if err != nil {
		return err
	}
	_, err = s.out.Write(append(api.OpenAPI(), '\n'))
	return err
}
