package core

import (
	"cmp"
	"errors"

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

// encodeChunks packs sorted readings of a device, at most a day of UTC to a chunk. over says
// that their day is.
func encodeChunks(deviceID int64, rs []rimewatch.Reading, over bool) []Chunk {
	var out []Chunk
	for len(rs) > 0 {
		day := rs[0].At.UTCDay()
		n := 1
		for n < len(rs) && n < chunkReadings && rs[n].At.UTCDay() == day {
			n++
		}
		summary := chunk.Summarize(rs[:n])
		c := Chunk{From: rs[0].At, To: rs[n-1].At, N: n, Young: !over && n < grown}
		c.Summary = withSum(summary.Append(nil), c.place(deviceID)...)
		c.Data = withSum(chunk.Encode(nil, rs[:n]), c.place(deviceID)...)
		out = append(out, c)
		rs = rs[n:]
	}
	return out
}

// openChunk reads a chunk without decoding it.
func openChunk(v Chunks, deviceID int64, sp Span) (*chunk.Chunk, error) {
	damaged := func(why error) error {
		return &damagedChunk{Damaged{DeviceSpan{sp, deviceID}, why.Error()}}
	}
	data, err := v.Data(sp)
	switch {
	case errors.Is(err, ErrDamaged):
		return nil, damaged(err)
	case err != nil:
		return nil, err
	}
	data, ok := cutSum(data, sp.place(deviceID)...)
	if !ok {
		return nil, damaged(errors.New("checksum"))
	}
	c, err := chunk.Open(data)
	if err != nil {
		return nil, damaged(err)
	}
	return c, nil
}

// readCluster returns the readings of overlapping chunks, merged, and the chunks
// that they come from: all but the damaged ones.
func (g *damage) readCluster(v Chunks, deviceID int64, cluster []Span) (rs []rimewatch.Reading, from []Span, err error) {
	sets := make([][]rimewatch.Reading, 0, len(cluster))
	from = make([]Span, 0, len(cluster))
	for _, sp := range cluster {
		c, err := openChunk(v, deviceID, sp)
		if err == nil {
			var rs []rimewatch.Reading
			if rs, err = c.Readings(nil); err == nil {
				sets, from = append(sets, rs), append(from, sp)
				continue
			}
			err = &damagedChunk{Damaged{DeviceSpan{sp, deviceID}, err.Error()}}
		}
		if !g.skip(err) {
			return nil, nil, err
		}
	}
	if len(sets) == 1 {
		return sets[0], from, nil
	}
	return chunk.Merge(nil, sets...), from, nil
}
