package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
	"github.com/rimewatch/rimewatch/internal/account"
)

type limitsCmd struct {
	Get limitsGetCmd `cmd:"" help:"Show the limits in force and where they come from."`
	Set limitsSetCmd `cmd:"" help:"Set limits: name=value, or name=default to reset one."`
}

// limitsTarget is whose limits are meant: a type's in a workspace of the data
// directory, or a device's on a server.
type limitsTarget struct {
	dataFlag
	Workspace string `placeholder:"NAME" help:"Name of the workspace."`
	Type      string `placeholder:"TYPE" help:"Type of equipment, such as walkin_freezer."`
	Device    string `placeholder:"SERIAL" help:"A device instead of a type. Needs a running server and a token."`
	URL       string `name:"url" default:"http://127.0.0.1:8080" placeholder:"URL" help:"URL of the server."`
	Token     string `placeholder:"TOKEN" help:"API token. Prefer RIMEWATCH_TOKEN, which ps does not show."`
}

func (t *limitsTarget) check() error {
	switch {
	case t.Device != "" && t.Type != "":
		return usagef("--type and --device cannot be used together")
	case t.Device == "" && t.Workspace == "":
		return usagef("missing --workspace=NAME or --device=SERIAL")
	case t.Device != "" && t.Token == "":
		return usagef("missing flags: --token=TOKEN")
	}
	return nil
}

func (t *limitsTarget) connect() (*client.Client, error) {
	r := remoteFlags{URL: t.URL, Token: t.Token}
	return r.connect()
}

// work does work on the workspace in the store.
func (t *limitsTarget) work(ctx context.Context, do func(context.Context, *account.Service, account.Principal, rimewatch.Time) error) error {
	if err := t.mustExist(); err != nil {
		return err
	}
	return t.accounts(ctx, func(ctx context.Context, a *account.Service, now rimewatch.Time) error {
		w := workspaceFlag{t.Workspace}
		p, err := w.operator(ctx, a, nil, now)
		if err != nil {
			return err
		}
		return do(ctx, a, p, now)
	})
}

type limitsGetCmd struct{ limitsTarget }

// Run prints the limits.
func (c *limitsGetCmd) Run(ctx context.Context, s streams) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Device != "" {
		api, err := c.connect()
		if err != nil {
			return err
		}
		d, err := api.Device(ctx, c.Device)
		if err != nil {
			return plain(err)
		}
		return printLimits(s.out, []limitsRow{{d.Serial, d.Limits}})
	}
	return c.work(ctx, func(ctx context.Context, a *account.Service, p account.Principal, _ rimewatch.Time) error {
		w, err := a.Workspace(ctx, p)
		if err != nil {
			return err
		}
		return c.print(s.out, &w)
	})
}

func (t *limitsTarget) print(out io.Writer, w *rimewatch.Workspace) error {
	var rows []limitsRow
	for _, e := range rimewatch.EquipmentTypes() {
		if t.Type == "" || t.Type == e.Slug {
			d := rimewatch.Device{EquipmentType: e.Slug, WorkspaceLimits: w.LimitsOf(e.Slug)}
			rows = append(rows, limitsRow{e.Slug, d.LimitsInForce()})
		}
	}
	if len(rows) == 0 {
		return usagef("--type %q is not a known equipment type", t.Type)
	}
	return printLimits(out, rows)
}

type limitsRow struct {
	name   string
	limits rimewatch.Limits
}

func printLimits(out io.Writer, rows []limitsRow) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "OF\ttemp_min\ttemp_max\tdelay_s\tlow_delay_s\tcritical_min\tcritical_max\tcritical_delay_s\tclear_delta\tclear_s\texposure_min_per_day.warm\texposure_min_per_day.cold\toffline_after_s\tSOURCE")
	for _, r := range rows {
		l := &r.limits
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%s\t%s\t%d\t%v\t%d\t%s\t%s\t%d\t%s\n", r.name, degrees(l.TempMin), degrees(l.TempMax), l.DelayS, l.LowDelayS,
			degrees(l.CriticalMin), degrees(l.CriticalMax), l.CriticalDelayS, l.ClearDelta, l.ClearS, whole(l.ExposureMinPerDay.Warm), whole(l.ExposureMinPerDay.Cold), l.OfflineAfterS, l.Source)
	}
	return t.Flush()
}

func degrees(v *float64) string {
	if v == nil {
		return "-"
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}

func whole(v *int) string {
	if v == nil {
		return "-"
	}
	return strconv.Itoa(*v)
}

type limitsSetCmd struct {
	limitsTarget
	ConfirmLoosening bool     `help:"Confirm that a safety limit is to be relaxed."`
	Limits           []string `arg:"" name:"limit=value" help:"For example temp_max=-16 delay_s=1800. Temperatures are in °C."`
}

// Help is shown by limits set --help.
func (limitsSetCmd) Help() string {
	return `Limits of a type hold for all its devices in the workspace that have none of their own; a running server judges by them within n. Tightening is free. Loosening a safety limit needs --confirm-loosening and, as every change, stands in the audit trail.

  rimewatch limits set --workspace "My Market" --type meat_cooler temp_max=3 delay_s=1800
  rimewatch limits set --device WIF-0001 temp_max=-17`
}

// Run sets the limits and prints those in force then.
func (c *limitsSetCmd) Run(ctx context.Context, s streams) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Device == "" && c.Type == "" {
		return usagef("missing --type=TYPE or --device=SERIAL")
	}
	changes, err := parseLimits(c.Limits)
	if err != nil {
		return err
	}
	if c.Device != "" {
		return c.setDevice(ctx, s.out, changes)
	}
	return c.work(ctx, func(ctx context.Context, a *account.Service, p account.Principal, now rimewatch.Time) error {
		w, err := a.UpdateWorkspace(ctx, p, account.WorkspacePatch{
			ConfirmLoosening: c.ConfirmLoosening,
			Limits: map[string]func(*rimewatch.LimitOverrides){c.Type: func(o *rimewatch.LimitOverrides) {
				for _, change := range changes {
					change.apply(o)
				}
			}},
		}, now)
		if err != nil {
			return err
		}
		return c.print(s.out, &w)
	})
}

func (c *limitsSetCmd) setDevice(ctx context.Context, out io.Writer, changes []limitChange) error {
	var o rimewatch.LimitOverrides
	for _, change := range changes {
		if change.value == nil {
			return usagef("%s=default works for types only: reset a device's limits through the API", change.name)
		}
		change.apply(&o)
	}
	api, err := c.connect()
	if err != nil {
		return err
	}
	d, err := api.UpdateDevice(ctx, c.Device, client.DeviceFields{Limits: &o, ConfirmLoosening: c.ConfirmLoosening})
	if err != nil {
		return plain(err)
	}
	return printLimits(out, []limitsRow{{d.Serial, d.Limits}})
}

// limitChange is one limit with its new value, nil = the default.
type limitChange struct {
	name  string
	value *float64
	apply func(*rimewatch.LimitOverrides)
}

func parseLimits(words []string) ([]limitChange, error) {
	var out []limitChange
	for _, w := range words {
		name, text, ok := strings.Cut(w, "=")
		if !ok {
			return nil, usagef("%q: want name=value, such as temp_max=-16", w)
		}
		c := limitChange{name: name}
		if text != "default" {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, usagef("%s: %q is not a number", name, text)
			}
			c.value = &v
		}
		if c.apply = limitSetter(name, c.value); c.apply == nil {
			return nil, usagef("%q is not a limit; 'rimewatch limits get' shows their names", name)
		}
		if strings.HasSuffix(name, "_s") && c.value != nil && *c.value != math.Trunc(*c.value) {
			return nil, usagef("%s: %q is not a whole number of seconds", name, text)
		}
		if strings.HasPrefix(name, "exposure_") && c.value != nil && *c.value != math.Trunc(*c.value) {
			return nil, usagef("%s: %q is not a whole number of minutes", name, text)
		}
		out = append(out, c)
	}
	return out, nil
}

func limitSetter(name string, v *float64) func(*rimewatch.LimitOverrides) {
	var n *int // s or min
	if v != nil {
		whole := int(*v)
		n = &whole
	}
	switch name {
	case "temp_min":
		return func(o *rimewatch.LimitOverrides) { o.TempMin = v }
	case "temp_max":
		return func(o *rimewatch.LimitOverrides) { o.TempMax = v }
	case "delay_s":
		return func(o *rimewatch.LimitOverrides) { o.DelayS = n }
	case "low_delay_s":
		return func(o *rimewatch.LimitOverrides) { o.LowDelayS = n }
	case "critical_min":
		return func(o *rimewatch.LimitOverrides) { o.CriticalMin = v }
	case "critical_max":
		return func(o *rimewatch.LimitOverrides) { o.CriticalMax = v }
	case "critical_delay_s":
		return func(o *rimewatch.LimitOverrides) { o.CriticalDelayS = n }
	case "clear_delta":
		return func(o *rimewatch.LimitOverrides) { o.ClearDelta = v }
	case "clear_s":
		return func(o *rimewatch.LimitOverrides) { o.ClearS = n }
	case "offline_after_s":
		return func(o *rimewatch.LimitOverrides) { o.OfflineAfterS = n }
	case "exposure_min_per_day.warm":
		return func(o *rimewatch.LimitOverrides) {
			o.SetExposure(func(x *rimewatch.ExposureOverrides) { x.Warm = n })
		}
	case "exposure_min_per_day.cold":
		return func(o *rimewatch.LimitOverrides) {
			o.SetExposure(func(x *rimewatch.ExposureOverrides) { x.Cold = n })
		}
	default:
		return nil
	}
}
