package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"

	"github.com/rimewatch/rimewatch/client"
	"github.com/rimewatch/rimewatch/internal/apply"
)

type applyCmd struct {
	remoteFlags
	File             string `short:"f" required:"" type:"existingfile" placeholder:"FILE" help:"What the workspace is to be, in YAML."`
	DryRun           bool   `help:"Only show what would change."`
	Prune            bool   `help:"Delete what the file does not have."`
	ConfirmLoosening bool   `help:"Let safety limits become looser."`
}

// Help is shown by apply --help.
func (applyCmd) Help() string {
	return `Sites, contacts, channels, routes, sources, devices and the workspace's limits from a file, which can be kept in Git. The token needs the preset admin.
A second run changes nothing. Secrets come from the environment: write $NAME. What the file does not have stays, unless --prune is given.

  rimewatch export --config > fleet.yaml
  rimewatch apply -f fleet.yaml --dry-run`
}

// Run brings the workspace to the state of the file.
func (c *applyCmd) Run(ctx context.Context, s streams) error {
	document, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	f, err := apply.Read(document, s.lookup)
	if err != nil {
		return usagef("%s: %w", c.File, err)
	}
	api, err := c.connect()
	if err != nil {
		return err
	}
	p, err := apply.Make(ctx, wholeAPI{api}, f, apply.Options{Prune: c.Prune, Loosen: c.ConfirmLoosening})
	if err != nil {
		return err
	}
	if len(p.Steps) == 0 {
		fmt.Fprintln(s.out, "Nothing to change.")
	}
	for i := range p.Steps {
		if c.DryRun {
			fmt.Fprintln(s.out, &p.Steps[i])
		}
	}
	if !c.DryRun {
		err = p.Run(ctx, func(x *apply.Step, once map[string]string) {
			fmt.Fprintln(s.out, x)
			for _, name := range slices.Sorted(maps.Keys(once)) {
				fmt.Fprintf(s.out, "    %s: %s\n", name, once[name])
			}
		})
	}
	for _, text := range p.Warnings {
		fmt.Fprintf(s.err, "warning: %s\n", text)
	}
	for _, name := range p.Extra {
		fmt.Fprintf(s.err, "not in the file, and left: %s\n", name)
	}
	return err
}

type exportCmd struct {
	remoteFlags
	Config bool `required:"" help:"The file that apply reads."`
}

// Help is shown by export --help.
func (exportCmd) Help() string {
	return `Secrets, keys and readings are not in it.`
}

// Run writes the file.
func (c *exportCmd) Run(ctx context.Context, s streams) error {
	api, err := c.connect()
	if err != nil {
		return err
	}
	b, err := apply.Export(ctx, wholeAPI{api})
	if err == nil {
		_, err = s.out.Write(b)
	}
	return err
}

// wholeAPI is the client as package apply asks for it.
type wholeAPI struct{ *client.Client }

// Any implements apply.Server.
func (x wholeAPI) Any(ctx context.Context, method, path string, query url.Values, body any) (json.RawMessage, error) {
	a, err := x.Client.Call(ctx, client.Request{Method: method, Path: path, Query: query, Body: body})
	return a.Data, err
}

// Import implements apply.Server.
func (x wholeAPI) Import(ctx context.Context, csv []byte, dryRun, loosen bool) (rows []apply.Row, err error) {
	got, err := x.ImportDevicesWith(ctx, csv, client.ImportOptions{DryRun: dryRun, ConfirmLoosening: loosen})
	for _, r := range got.Rows {
		rows = append(rows, apply.Row{Serial: r.Serial, Action: r.Action, Problems: r.Errors, Warnings: r.Warnings})
	}
	return rows, err
}
