package main

import (
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/httpapi/v1"
)

type openapiCmd struct {
	PublicURL string `placeholder:"URL" help:"Server address to put into the description."`
}

// Run prints the description that a server of this version serves.
func (c *openapiCmd) Run(s streams) error {
	api, err := v1.New(v1.Config{Config: httpapi.Config{
		Version: versionName(), PublicURL: c.PublicURL,
		Now: func() rimewatch.Time { return rimewatch.TimeOf(time.Now()) },
	}})
	if err != nil {
		return err
	}
	_, err = s.out.Write(append(api.OpenAPI(), '\n'))
	return err
}
