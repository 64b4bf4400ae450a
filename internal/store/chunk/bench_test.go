package chunk_test

import (
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store/chunk"
)

const epoch = rimewatch.Time(1_780_000_000_000)

func BenchmarkAppendReading(b *testing.B) {
	rs := fridge(1, 1000, epoch)
	buf := make([]byte, 0, 64000)
	i, size := 0, 0
	for b.Loop() {
		if i%1000 == 0 {
			buf = buf[:0]
		}
		buf = chunk.AppendReading(buf, &rs[i%1000], rs[0].At)
		i++
		size = max(size, len(buf))
	}
	b.ReportMetric(float64(size)/1000, "B/reading")
}

func BenchmarkDecodeReading(b *testing.B) {
	rs := fridge(1, 1000, epoch)
	var buf []byte
	for i := range rs {
		buf = chunk.AppendReading(buf, &rs[i], rs[0].At)
	}
	var r rimewatch.Reading
	rest := buf
	for b.Loop() {
		n, err := chunk.DecodeReading(rest, &r, rs[0].At)
		if err != nil {
			b.Fatal(err)
		}
		if rest = rest[n:]; len(rest) == 0 {
			rest = buf
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, n := range []int{60, 250, 1000, 1440, 4096} {
		b.Run(itoa(n), func(b *testing.B) {
			rs := fridge(1, n, epoch)
			var blob []byte
			for b.Loop() {
				blob = chunk.Encode(blob[:0], rs)
			}
			b.ReportMetric(float64(len(blob))/float64(n), "B/reading")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/reading")
		})
	}
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

func month() (chunks [][]byte) {
	for day := range 30 {
		chunks = append(chunks, chunk.Encode(nil, fridge(uint64(day), 1440, epoch+rimewatch.Time(day)*rimewatch.Day)))
	}
	return chunks
}

func BenchmarkReadings43200(b *testing.B) {
	chunks := month()
	var rs []rimewatch.Reading
	for b.Loop() {
		rs = rs[:0]
		for _, blob := range chunks {
			c, err := chunk.Open(blob)
			if err != nil {
				b.Fatal(err)
			}
			if rs, err = c.Readings(rs); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkColumns43200(b *testing.B) {
	chunks := month()
	var at []rimewatch.Time
	var v []float64
	for b.Loop() {
		for _, blob := range chunks {
			c, err := chunk.Open(blob)
			if err != nil {
				b.Fatal(err)
			}
			at, _ = c.Times(at[:0])
			for f := range rimewatch.CoreFields.All() {
				if v, err = c.Field(f, v[:0]); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}

func BenchmarkOneField43200(b *testing.B) {
	for _, f := range []rimewatch.Field{rimewatch.ProductZoneTemp, rimewatch.Voltage, rimewatch.AmpDraw} {
		b.Run(f.String(), func(b *testing.B) {
			chunks := month()
			var at []rimewatch.Time
			var v []float64
			for b.Loop() {
				for _, blob := range chunks {
					c, err := chunk.Open(blob)
					if err != nil {
						b.Fatal(err)
					}
					at, _ = c.Times(at[:0])
					if v, err = c.Field(f, v[:0]); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func BenchmarkBuckets(b *testing.B) {
	chunks := month()
	for _, fields := range []rimewatch.Fields{1, rimewatch.CoreFields} {
		b.Run(itoa(fields.Len()), func(b *testing.B) {
			for b.Loop() {
				buckets, err := chunk.NewBuckets(epoch, epoch+30*rimewatch.Day, 90*rimewatch.Minute, fields)
				if err != nil {
					b.Fatal(err)
				}
				var scratch chunk.Scratch
				for _, blob := range chunks {
					c, err := chunk.Open(blob)
					if err == nil {
						err = buckets.AddChunk(c, &scratch)
					}
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
