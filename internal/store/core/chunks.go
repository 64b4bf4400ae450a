package core

import (
	"cmp"
	"fmt"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store/chunk"
)

// A chunk is young while it has fewer readings than this and its day is not
// over for it.
const grown = 1000

func byBeginning(a, b Span) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.ID, b.ID))
}

// clusters groups spans that overlap: between two clusters readings need no
// merging, so that one cluster at a time is in memory.
func clusters(list []Span) [][]Span {
	var out [][]Span
	end := rimewatch.Time(-1)
	for i := range list {
		if list[i].From > end {
			out = append(out, list[i:i])
		}
		last := len(out) - 1
		out[last] = out[last][:len(out[last])+1]
		end = max(end, list[i].To)
	}
	return out
}

// encodeChunks packs sorted readings, at most a day of UTC to a chunk. over says
// that their day is.
func encodeChunks(rs []rimewatch.Reading, over bool) []Chunk {
	var out []Chunk
	for len(rs) > 0 {
		day := rs[0].At.UTCDay()
		n := 1
		for n < len(rs) && n < chunkReadings && rs[n].At.UTCDay() == day {
			n++
		}
		summary := chunk.Summarize(rs[:n])
		out = append(out, Chunk{
			From: rs[0].At, To: rs[n-1].At, N: n, Young: !over && n < grown,
			Summary: withSum(summary.Append(nil)),
			Data:    chunk.Encode(nil, rs[:n]),
		})
		rs = rs[n:]
	}
	return out
}

// openChunk reads a chunk without decoding it.
func openChunk(v Chunks, sp Span) (*chunk.Chunk, error) {
	data, err := v.Data(sp)
	if err != nil {
		return nil, err
	}
	c, err := chunk.Open(data)
	if err != nil {
		return nil, fmt.Errorf("chunk %d: %w", sp.ID, err)
	}
	return c, nil
}

// decodeCluster returns the readings of overlapping chunks, merged.
func decodeCluster(v Chunks, cluster []Span) ([]rimewatch.Reading, error) {
	sets := make([][]rimewatch.Reading, 0, len(cluster))
	for _, sp := range cluster {
		c, err := openChunk(v, sp)
		if err != nil {
			return nil, err
		}
		rs, err := c.Readings(nil)
		if err != nil {
			return nil, fmt.Errorf("chunk %d: %w", sp.ID, err)
		}
		sets = append(sets, rs)
	}
	if len(sets) == 1 {
		return sets[0], nil
	}
	return chunk.Merge(nil, sets...), nil
}
