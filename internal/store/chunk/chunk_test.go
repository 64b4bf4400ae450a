package chunk_test

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store/chunk"
	"pgregory.net/rapid"
)

// row is what a row gives back of a reading.
func row(r rimewatch.Reading) rimewatch.Reading {
	for f := range r.Values {
		if !r.Present.Has(rimewatch.Field(f)) {
			r.Values[f] = 0
		}
	}
	return r
}

// kept is what a chunk gives back of a reading.
func kept(r rimewatch.Reading) rimewatch.Reading {
	r = row(r)
	r.ReceivedAt = r.Received()
	return r
}

type failer interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// checkChunk encodes and compares everything that can be asked of the chunk.
func checkChunk(t failer, rs []rimewatch.Reading) {
	t.Helper()
	prefix := []byte("before")
	blob := chunk.Encode(prefix, rs)
	if string(blob[:len(prefix)]) != "before" {
		t.Fatal("Encode changed what it appends to")
	}
	c, err := chunk.Open(blob[len(prefix):])
	if err != nil {
		t.Fatal("Open:", err)
	}
	got, err := c.Readings(make([]rimewatch.Reading, 1))
	if err != nil || len(got) != len(rs)+1 {
		t.Fatal("Readings:", len(got), err)
	}
	times, err := c.Times(nil)
	if err != nil {
		t.Fatal("Times:", err)
	}
	for i, r := range got[1:] {
		if want := kept(rs[i]); !sameBits(want, r) {
			t.Fatalf("reading %d of %d: %s", i, len(rs), cmp.Diff(want, r))
		}
		if times[i] != rs[i].At {
			t.Fatalf("time %d: %d, want %d", i, times[i], rs[i].At)
		}
	}
	for f := range rimewatch.MaxFields {
		values, err := c.Field(f, nil)
		if err != nil || len(values) != len(rs) {
			t.Fatal("Field:", f, len(values), err)
		}
		for i, v := range values {
			want, ok := rs[i].Value(f)
			if ok == math.IsNaN(v) || ok && math.Float64bits(want) != math.Float64bits(v) {
				t.Fatalf("%s %d: %v, want %v %v", f, i, v, want, ok)
			}
		}
	}
}

func TestRealisticRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 2, 255, 256, 257, 1000, 4096, chunk.MaxReadings} {
		checkChunk(t, fridge(7, n, epoch))
	}
}

func TestChunkProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkChunk(t, anyReadings(t, 300)) })
}

// TestBlockBoundaries fills several blocks with series that each mode and each
// way out of it has to carry.
func TestBlockBoundaries(t *testing.T) {
	series := map[string]func(i int) float64{
		"constant":        func(int) float64 { return -18.5 },
		"line":            func(i int) float64 { return float64(i) / 10 },
		"two levels":      func(i int) float64 { return float64(i/9%2) * (15 + float64(i%7)/100) },
		"sixteenths":      func(i int) float64 { return float64(i*i%64) / 16 },
		"halves":          func(i int) float64 { return float64(i*i%9) / 2 },
		"float32":         func(i int) float64 { return float64(float32(-20) + float32(i*i%100)/10) },
		"fahrenheit":      func(i int) float64 { return (float64(i*i%100) - 32) / 1.8 },
		"finer later":     func(i int) float64 { return []float64{float64(i % 5), float64(i*i%97) / 100}[min(i/300, 1)] },
		"rarely finer":    func(i int) float64 { return []float64{-18.1, -18.05}[max(0, i%50-48)] },
		"rarely odd":      func(i int) float64 { return []float64{-18.1, 1.0 / 3}[max(0, i%70-68)] },
		"half odd":        func(i int) float64 { return []float64{-18.1, math.Sqrt(float64(i))}[i%2] },
		"all signs":       func(i int) float64 { return math.Copysign(float64(i%3), float64(i%2)-0.5) },
		"extremes":        func(i int) float64 { return []float64{math.MaxFloat64, -math.MaxFloat64, 5e-324, 0}[i%4] },
		"big integers":    func(i int) float64 { return []float64{1 << 53, -(1 << 53), 1<<53 - 1}[i%3] },
		"large then tiny": func(i int) float64 { return []float64{1e15, 1e-14}[min(i/128, 1)] },
	}
	for name, value := range series {
		t.Run(name, func(t *testing.T) {
			rs := make([]rimewatch.Reading, 700)
			for i := range rs {
				rs[i].At = epoch + rimewatch.Time(i)
				rs[i].Set(rimewatch.AmpDraw, value(i))
			}
			checkChunk(t, rs)
		})
	}
}

func TestSize(t *testing.T) {
	for _, tc := range []struct {
		name string
		max  float64 // bytes a reading
		edit func(i int, r *rimewatch.Reading)
	}{
		{"as it comes", 6.6, func(int, *rimewatch.Reading) {}},
		{"exact minutes", 5, func(i int, r *rimewatch.Reading) {
			r.At = epoch + rimewatch.Time(i)*rimewatch.Minute
			r.ReceivedAt = r.At + 90
		}},
		{"whole seconds", 5.3, func(_ int, r *rimewatch.Reading) { r.At, r.ReceivedAt = r.At/1000*1000, r.At/1000*1000+90 }},
		{"one field", 2.1, func(_ int, r *rimewatch.Reading) { r.Present = 1 }},
		{"every 500th lost", 6.6, func(i int, r *rimewatch.Reading) {
			r.At += rimewatch.Time(i/500) * rimewatch.Minute
			r.ReceivedAt = r.At + 90
		}},
		{"counters and flags", 7.1, func(i int, r *rimewatch.Reading) {
			r.Flags = r.Flags.WithBool(rimewatch.CompressorOn, i/9%2 == 0)
			r.Set(rimewatch.StartCount, float64(1000+i/18))
			r.Set(rimewatch.RunSeconds, float64(50000+i/18*540+min(i%18, 9)*60))
		}},
		{"sixteenths", 7, func(_ int, r *rimewatch.Reading) {
			for f := range 4 {
				r.Values[f] = math.Round(r.Values[f]*16) / 16
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rs := fridge(3, 1000, epoch)
			for i := range rs {
				tc.edit(i, &rs[i])
			}
			checkChunk(t, rs)
			size := float64(len(chunk.Encode(nil, rs))) / float64(len(rs))
			t.Logf("%.2f bytes a reading", size)
			if size > tc.max {
				t.Errorf("%.2f bytes a reading, want at most %.2f", size, tc.max)
			}
		})
	}
}

func TestOpenRefusesDamage(t *testing.T) {
	blob := chunk.Encode(nil, fridge(1, 50, epoch))
	for n := range blob {
		if _, err := chunk.Open(blob[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes opened", n, len(blob))
		}
		damaged := append([]byte(nil), blob...)
		damaged[n] ^= 1 << (n % 8)
		if _, err := chunk.Open(damaged); err == nil {
			t.Fatalf("opened with byte %d damaged", n)
		}
	}
}

// reseal makes the checksum of a mutated chunk right, so that fuzzing reaches
// what lies behind it.
func reseal(blob []byte) []byte {
	if len(blob) < 4 {
		return blob
	}
	blob = append([]byte(nil), blob...)
	body := blob[:len(blob)-4]
	binary.LittleEndian.PutUint32(blob[len(body):], crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
	return blob
}

func FuzzOpen(f *testing.F) {
	for _, n := range []int{0, 1, 3, 40, 300} {
		rs := fridge(uint64(n), n, epoch)
		f.Add(chunk.Encode(nil, rs))
		for i := range rs {
			rs[i].Flags = rimewatch.Flags(i)
			rs[i].Set(rimewatch.StartCount, float64(i))
			rs[i].Set(rimewatch.RunSeconds, float64(i*i))
			rs[i].Present ^= rimewatch.Fields(i) & rimewatch.CoreFields
			rs[i].Faults = rimewatch.Fields(i % 3)
			rs[i].Values[i%8] = math.Sqrt(float64(i))
		}
		f.Add(chunk.Encode(nil, rs))
	}
	f.Fuzz(func(t *testing.T, blob []byte) {
		c, err := chunk.Open(reseal(blob))
		if err != nil {
			return
		}
		times, errTimes := c.Times(nil)
		if len(times) > chunk.MaxReadings {
			t.Fatal("too many readings:", len(times))
		}
		rs, err := c.Readings(nil)
		for f := range rimewatch.MaxFields {
			values, errField := c.Field(f, nil)
			if err == nil && (errField != nil || len(values) != len(rs)) {
				t.Fatal("Readings succeed and Field fails:", errField)
			}
		}
		if err != nil {
			return
		}
		if errTimes != nil || len(times) != len(rs) {
			t.Fatal("Readings succeed and Times fails:", errTimes)
		}
	})
}
