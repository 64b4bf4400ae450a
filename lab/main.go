// Command lab measures Rimewatch and draws its pictures. The product does not need it.
//
//	go run . bench -only growth            against yardsticks on the same machine
//	go run . evaluate --format simulator   what the engine finds, and how often it is wrong
//	go run . pictures                      docs/img
//	go run . texts                         what people read in sixty drawn situations
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/alecthomas/kong"

	"github.com/rimewatch/rimewatch/lab/bench"
	"github.com/rimewatch/rimewatch/lab/evaluate"
	"github.com/rimewatch/rimewatch/lab/pictures"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) > 0 && args[0] == "bench" { // has flags of its own
		return bench.Run(args[1:])
	}
	var cli struct {
		Bench    struct{}    `cmd:"" help:"Measure the service against yardsticks on the same machine."`
		Evaluate evaluateCmd `cmd:"" help:"Measure the predictor on recorded or simulated data."`
		Pictures picturesCmd `cmd:"" help:"Draw the pictures of the documents, from the simulator and the engine."`
		Texts    textsCmd    `cmd:"" help:"Draw situations from both families of simulated units and print what people read of them."`
	}
	parser, err := kong.New(&cli, kong.Name("lab"))
	if err != nil {
		return err
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	parsed.BindTo(ctx, (*context.Context)(nil))
	return parsed.Run()
}

type evaluateCmd struct {
	Paths     []string `arg:"" optional:"" name:"path" help:"CSV files or folders; none for the simulator."`
	Format    string   `required:"" enum:"device,real,simulator,dirty,spoilt,families" help:"Kind of data: device, real (a folder of recordings with site_alarms.csv), simulator, dirty (simulated units as they are found in the field), spoilt (the same with bad input) or families (units of two sets of equations, side by side)."`
	Out       string   `placeholder:"DIR" help:"Folder for events.csv, for device. Created if missing."`
	Equipment string   `placeholder:"TYPE" help:"Equipment type of the recorded units, for device."`
	Limits    string   `placeholder:"MIN,MAX" help:"Limits in °C instead of the type's, for device."`
	Doc       string   `placeholder:"FILE" help:"Markdown file whose section of this format the report replaces."`
	SeedSet   string   `enum:",known,fresh" default:"" help:"Only one set of seeds, for dirty, spoilt and families: known or fresh."`
	Part      string   `enum:",healthy,faults,sensors,machine,cold,people" default:"" help:"Only one part of dirty or families: healthy, faults, sensors (of dirty), or of the faults of families machine, cold (nothing cools) or people (none of the machine)."`
	First     uint64   `help:"First of the fresh seeds, for dirty, spoilt and families, to repeat a run; otherwise drawn."`
	Seeds     int      `default:"8" help:"Simulated units per fault and type; for spoilt per type, for families per fault."`
	Years     float64  `default:"100" help:"Device-years of healthy units to simulate."`
	Workers   int      `default:"1" help:"Number of parallel simulations."`
}

// Run measures the predictor.
func (c *evaluateCmd) Run(ctx context.Context) error {
	return evaluate.Run(ctx, evaluate.Options{
		Format: c.Format, Paths: c.Paths, Out: c.Out, Equipment: c.Equipment, Limits: c.Limits, Doc: c.Doc,
		SeedSet: c.SeedSet, Part: c.Part, First: c.First, Seeds: c.Seeds, HealthyYears: c.Years, Workers: c.Workers,
	}, os.Stdout)
}

type picturesCmd struct {
	Dir string `arg:"" optional:"" default:"../docs/img" help:"Folder for the pictures."`
}

// Run draws the pictures.
func (c *picturesCmd) Run() error { return pictures.Draw(c.Dir) }

type textsCmd struct {
	First uint64 `help:"First of the seeds, to repeat a run; otherwise drawn."`
	Count int    `default:"60" help:"Number of situations."`
}

// Run prints the texts.
func (c *textsCmd) Run(ctx context.Context) error {
	return evaluate.Texts(ctx, c.First, c.Count, os.Stdout)
}
