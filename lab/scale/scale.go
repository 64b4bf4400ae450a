// Package scale reckons what fleets cost that no machine here can hold, from what was
// measured on smaller ones. docs/scale.md says where each input comes from.
package scale

// Inputs are what was measured.
type Inputs struct {
	ReadingsPerMinute float64 // of a device
	LogBytes          float64 // of the write-ahead log, of a reading in groups
	RestBytes         float64 // of a reading at rest
	CheckpointBytes   float64 // of the write-ahead log, of a device's checkpoint
	ImageBytes        float64 // likewise, of the images of the pages that it is the first to touch after a checkpoint of the database
	StateBytes        float64 // of a device's state, as it is read
	DeviceBytes       float64 // of a node's memory, of a device
	ServiceBytes      float64 // likewise, of a shard without devices
	OpenCPU           float64 // s of a core to make the service of a shard
	DeviceCPU         float64 // s of a core to load a device
	ReplayCPU         float64 // s of a core to replay a reading of the log
	ReadingCPU        float64 // s of a core for a reading: decoding, evaluation, commit
	DatabaseCPU       float64 // s of a core of the database for a reading
	ShardCommits      float64 // a second, of one shard, one after the other
	PrimaryCommits    float64 // a second, of one primary
	PrimaryLog        float64 // bytes of write-ahead log a second that one primary takes well
	ReadRate          float64 // bytes a second that all nodes together read from one primary; 0 = no time
	Noticed, Silent   float64 // s until a process that ended, a machine that fell silent, is known to be gone
}

// Measured are the inputs of docs/scale.md.
func Measured() Inputs {
	return Inputs{
		ReadingsPerMinute: 1, LogBytes: 45, RestBytes: 9.5, CheckpointBytes: 2900, ImageBytes: 4200, StateBytes: 2700, DeviceBytes: 4600, ServiceBytes: 4 << 20,
		OpenCPU: 0.075, DeviceCPU: 14e-6, ReplayCPU: 1.2e-6, ReadingCPU: 6e-6, DatabaseCPU: 2e-6, ShardCommits: 250, PrimaryCommits: 13e3,
		PrimaryLog: 100e6, ReadRate: 200e6, Noticed: 0.1, Silent: 3,
	}
}

// Fleet is a cluster and what it serves.
type Fleet struct {
	Devices       float64
	Nodes, Cores  int // of a node
	Shards        int
	CheckpointGap float64 // s between two checkpoints of a device
}

// Cost is what a fleet costs.
type Cost struct {
	Readings      float64 // a second
	LogRate       float64 // bytes a second of write-ahead log, of readings
	CheckpointLog float64 // of checkpoints
	ImageLog      float64 // of images of pages
	Commits       float64 // a second
	ByCommits     float64 // primaries that the commits take
	ByLog         float64 // primaries that the log takes
	Cores         float64 // of nodes, for readings
	NodeMemory    float64 // bytes of one node
	NodeMemoryOne float64 // when another node is gone
	YearBytes     float64 // at rest, a year, one copy
	// After the process of a node has ended: when all states of the first and of the last of
	// its shards are there again, s. Silence adds Silent − Noticed.
	FirstServed, LastServed float64
}

// openAtOnce is how many shards a node opens side by side.
const openAtOnce = 4

// Reckon returns what a fleet costs.
func Reckon(in Inputs, f Fleet) Cost {
	var c Cost
	c.Readings = f.Devices * in.ReadingsPerMinute / 60
	c.LogRate = c.Readings * in.LogBytes
	c.CheckpointLog = f.Devices * in.CheckpointBytes / f.CheckpointGap
	c.ImageLog = f.Devices * in.ImageBytes / f.CheckpointGap
	c.Commits = min(c.Readings, float64(f.Shards)*in.ShardCommits)
	c.ByCommits, c.ByLog = c.Commits/in.PrimaryCommits, (c.LogRate+c.CheckpointLog+c.ImageLog)/in.PrimaryLog
	c.Cores = c.Readings * in.ReadingCPU
	memory := f.Devices*in.DeviceBytes + float64(f.Shards)*in.ServiceBytes
	c.NodeMemory, c.NodeMemoryOne = memory/float64(f.Nodes), memory/float64(max(f.Nodes-1, 1))
	c.YearBytes = c.Readings * 365.25 * 86400 * in.RestBytes
	c.FirstServed, c.LastServed = takeOver(in, f)
	return c
}

// takeOver has a node end, and the others take its shards: each opens what falls to
// it, openAtOnce at a time, on its cores.
func takeOver(in Inputs, f Fleet) (first, last float64) {
	devices := f.Devices / float64(f.Shards)
	logged := devices * in.ReadingsPerMinute / 60 * f.CheckpointGap
	work := in.OpenCPU + devices*in.DeviceCPU + logged*in.ReplayCPU // s of a core for a shard
	orphans := (f.Shards + f.Nodes - 1) / f.Nodes
	own := (orphans + max(f.Nodes-1, 1) - 1) / max(f.Nodes-1, 1) // of the node with most
	read := devices*in.StateBytes + logged*in.LogBytes           // of a shard
	now, left := in.Noticed, own
	for left > 0 {
		n := min(left, openAtOnce)
		// A shard is loaded by all cores at once, and what is opened side by side shares them.
		now += work * float64(n) / float64(f.Cores)
		if in.ReadRate > 0 { // the other nodes read at the same time
			now += read * float64(n*max(f.Nodes-1, 1)) / in.ReadRate
		}
		if first == 0 {
			first = now
		}
		left -= n
	}
	return first, now
}
