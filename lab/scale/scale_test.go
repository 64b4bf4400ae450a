package scale

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

// fleets are the rows of docs/scale.md.
var fleets = []struct {
	name string
	Fleet
}{
	{"1M", Fleet{Devices: 1e6, Nodes: 3, Cores: 4, Shards: 32, CheckpointGap: 300}},
	{"10M", Fleet{Devices: 10e6, Nodes: 6, Cores: 8, Shards: 128, CheckpointGap: 900}},
}

func row(name string, f Fleet) string {
	c := Reckon(Measured(), f)
	return fmt.Sprintf("| %s | %d × %d | %d | %.1fk | %.1f | %.0f | %.1f + %.1f + %.1f | %.1f / %.1f | %.1f / %.1f | %.1f | %.0f / %.0f |",
		name, f.Nodes, f.Cores, f.Shards, c.Readings/1e3, c.Cores, c.Commits, c.LogRate/1e6, c.CheckpointLog/1e6, c.ImageLog/1e6, c.ByCommits, c.ByLog, c.NodeMemory/1e9, c.NodeMemoryOne/1e9, c.YearBytes/1e12, c.FirstServed, c.LastServed)
}

// TestDocumented compares the table of the document with what is reckoned.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/scale.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fleets {
		if want := row(f.name, f.Fleet); !strings.Contains(string(text), want) {
			t.Errorf("docs/scale.md lacks the row\n%s", want)
		}
	}
}

// TestReckon holds the model against cases that can be reckoned by hand.
func TestReckon(t *testing.T) {
	in := Inputs{
		ReadingsPerMinute: 60, LogBytes: 10, CheckpointBytes: 100, ImageBytes: 200, DeviceBytes: 1, OpenCPU: 1,
		ShardCommits: 5, PrimaryCommits: 30, PrimaryLog: 1000, ReadRate: 1e4 / 3, Noticed: 0.5,
	}
	c := Reckon(in, Fleet{Devices: 100, Nodes: 2, Cores: 1, Shards: 12, CheckpointGap: 10})
	for what, x := range map[string][2]float64{
		"readings":                            {c.Readings, 100},
		"log":                                 {c.LogRate, 1000},
		"checkpoints":                         {c.CheckpointLog, 1000},
		"images of pages":                     {c.ImageLog, 2000},
		"commits":                             {c.Commits, 60},
		"primaries by commits":                {c.ByCommits, 2},
		"primaries by log":                    {c.ByLog, 4},
		"memory":                              {c.NodeMemory, 50},
		"memory of the one that is left":      {c.NodeMemoryOne, 100},
		"four of six shards are opened first": {c.FirstServed, 5.5},
		"then the other two":                  {c.LastServed, 8},
	} {
		if math.Abs(x[0]-x[1]) > 1e-9 {
			t.Errorf("%s: %v, not %v", what, x[0], x[1])
		}
	}
}
