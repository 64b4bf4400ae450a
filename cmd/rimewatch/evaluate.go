package main

import (
	"context"

	"github.com/rimewatch/rimewatch/internal/lab/evaluate"
)

type evaluateCmd struct {
	Paths     []string `arg:"" optional:"" name:"path" help:"CSV files or folders; none for the simulator."`
	Format    string   `required:"" enum:"skab,nab,ims,device,real,simulator,dirty,spoilt" help:"Kind of data: skab, nab, ims, device, real (a folder of recordings with site_alarms.csv), simulator, dirty (simulated units as they are found in the field) or spoilt (the same with bad input)."`
	Out       string   `placeholder:"DIR" help:"Folder for verdicts.csv or events.csv. Created if missing."`
	Equipment string   `placeholder:"TYPE" help:"Equipment type of the recorded units, for device."`
	Limits    string   `placeholder:"MIN,MAX" help:"Limits in °C instead of the type's, for device."`
	Doc       string   `placeholder:"FILE" help:"Markdown file whose section of this format the report replaces."`
	SeedSet   string   `enum:",known,fresh" default:"" help:"Only one set of seeds, for dirty and spoilt: known or fresh."`
	Part      string   `enum:",healthy,faults,sensors" default:"" help:"Only one part of dirty: healthy, faults or sensors."`
	First     uint64   `help:"First of the fresh seeds, for dirty and spoilt, to repeat a run; otherwise drawn."`
	Seeds     int      `default:"8" help:"Simulated units per fault and type; for spoilt per type."`
	Years     float64  `default:"100" help:"Device-years of healthy units to simulate."`
	Workers   int      `default:"1" help:"Number of parallel simulations."`
}

// Run measures the predictor.
func (c *evaluateCmd) Run(ctx context.Context, s streams) error {
	return evaluate.Run(ctx, evaluate.Options{
		Format: c.Format, Paths: c.Paths, Out: c.Out, Equipment: c.Equipment, Limits: c.Limits, Doc: c.Doc,
		SeedSet: c.SeedSet, Part: c.Part, First: c.First, Seeds: c.Seeds, HealthyYears: c.Years, Workers: c.Workers,
	}, s.out)
}
