package store

import (
	"errors"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Shard is a part of all workspaces: those whose ids leave Number when divided by
// Of. Ids are counted, so parts are equally large, and nobody can choose one. The zero
// value is all workspaces.
type Shard struct{ Number, Of int64 }

// Whole reports whether s is all workspaces.
func (s Shard) Whole() bool { return s.Of <= 1 }

// Holds reports whether a workspace belongs to s.
func (s Shard) Holds(workspaceID int64) bool {
	return s.Whole() || ShardOf(workspaceID, s.Of) == s.Number
}

// ShardOf returns the number of the shard that a workspace belongs to, of so many.
func ShardOf(workspaceID, of int64) int64 { return workspaceID % max(of, 1) }

// GoneAfter is how long a server may be silent before others take its shards.
const GoneAfter = 3 * time.Second

// ErrTaken means that another node was quicker to take a shard.
var ErrTaken = errors.New("another node has taken the shard")

// ErrMoved means that the data read of a shard while another node served it is valid no
// more: it has to be opened as if nothing had been read.
var ErrMoved = errors.New("the shard has changed since it was read")

// Member is a server that is heard of.
type Member struct {
	Name, URL string // URL is where other nodes reach it; "" = it is no node
	Version   string
	Secret    string // a digest
	Leaving   bool   // it gives its shards away
	Beat      int64  // when it was last heard of, by the database's clock
	Since     rimewatch.Time
	Failed    []Failure // shards that it could not open
}

// Failure is a shard that a member could not open, although the database can be used.
type Failure struct {
	Shard int64  `json:"shard"`
	Times int    `json:"times"` // since it was opened there, or the member came
	Why   string `json:"why"`   // the last time
}

// FailedAt returns how a shard could not be opened by a member; Times is 0 when it could, or
// was not tried.
func (m *Member) FailedAt(shard int64) Failure {
	for i := range m.Failed {
		if m.Failed[i].Shard == shard {
			return m.Failed[i]
		}
	}
	return Failure{}
}

// Holding is who has a shard.
type Holding struct {
	Shard, Stream int64
	Node          string
	Open          bool
	Since         rimewatch.Time
}

// ClusterState is how the servers of a database stand.
type ClusterState struct {
	Now      rimewatch.Time // by the database's clock
	Members  []Member       // by name
	Holdings []Holding      // by shard
}

// Failures returns how often the members that are heard of could not open a shard, and why
// one of them could not.
func (s *ClusterState) Failures(shard int64) (times int, why string) {
	for i := range s.Members {
		if f := s.Members[i].FailedAt(shard); f.Times > 0 {
			times, why = times+f.Times, f.Why
		}
	}
	return times, why
}

// Silent reports whether a member has not been heard of for so long that others
// may take its shards.
func (s *ClusterState) Silent(m *Member) bool {
	return int64(s.Now)-m.Beat >= GoneAfter.Milliseconds()
}
