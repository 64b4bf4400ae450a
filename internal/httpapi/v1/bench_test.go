package v1

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/httpapi/shortpath"
	"github.com/rimewatch/rimewatch/internal/httpapi/submit"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

const nominalBody = `{"device_serial":"WIF-0001","product_zone_temp":-18.5,"compressor_discharge_temp":85.2,"compressor_suction_temp":-5.1,"ambient_temp":24.8,"humidity":45,"voltage":230.4,"amp_draw":8.2,"vibration_level":2.1}`

// instantWriter accepts everything at once: what is left is the API's own cost.
type instantWriter struct{ submit.Writer }

func (instantWriter) Submit(_ context.Context, inputs []store.Input, _ []store.Vitals) error {
	for i := range inputs {
		inputs[i].Outcome = store.Accepted
		inputs[i].Reading.ReceivedAt = rigStart
		if inputs[i].AtArrival {
			inputs[i].Reading.At = rigStart
		}
	}
	return nil
}

// wideFleet has a hundred thousand devices.
type wideFleet struct{ store.Fleet }

func (wideFleet) EachDevice(_ context.Context, _ int64, yield func(*rimewatch.DeviceView) error) error {
	var v rimewatch.DeviceView
	v.Name, v.EquipmentType, v.Status = "Walk-in freezer, back room", "walkin_freezer", rimewatch.Online
	var sent wire.SentReading
	if e := wire.DecodeReading([]byte(nominalBody), &sent); e != nil {
		return e
	}
	v.Latest = sent.Reading
	v.Latest.At, v.Latest.ReceivedAt = rigStart, rigStart
	for i := range 100_000 {
		v.ID = int64(i + 1)
		v.Serial = "WIF-0001"
		if err := yield(&v); err != nil {
			return err
		}
	}
	return nil
}

func benchAPI(b *testing.B) (*httpapi.API, string) {
	r := newRig(b, func(c *whole) {
		c.readings.Writer, c.Fleet = instantWriter{c.readings.Writer}, wideFleet{c.Fleet}
		c.RateLimit = 0
	})
	r.device("WIF-0001", "other")
	*r.api.DeviceLimit = *httpapi.NewLimiter(0, 0, "")
	return r.api, r.full
}

type nullWriter struct {
	h      http.Header
	status int
}

func (w *nullWriter) Header() http.Header         { return w.h }
func (w *nullWriter) Write(b []byte) (int, error) { return len(b), nil }
func (w *nullWriter) WriteHeader(status int)      { w.status = status }

type rewound struct{ *bytes.Reader }

func (rewound) Close() error { return nil }

func BenchmarkSingle(b *testing.B) {
	api, token := benchAPI(b)
	r := httptest.NewRequest(http.MethodPost, "/api/v1/readings", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", httpapi.TypeJSON)
	r.ContentLength = int64(len(nominalBody))
	body := bytes.NewReader(nil)
	r.Body = rewound{body}
	w := &nullWriter{h: make(http.Header)}
	b.ReportAllocs()
	for b.Loop() {
		body.Reset([]byte(nominalBody))
		clear(w.h)
		api.ServeHTTP(w, r)
	}
	if w.status != http.StatusCreated {
		b.Fatalf("status %d", w.status)
	}
}

// BenchmarkShort is BenchmarkSingle by the short path.
func BenchmarkShort(b *testing.B) {
	r := newRig(b, func(c *whole) {
		c.readings.Writer = instantWriter{c.readings.Writer}
		c.RateLimit = 0
	})
	r.device("WIF-0001", "other")
	*r.api.DeviceLimit = *httpapi.NewLimiter(0, 0, "")
	q := shortpath.Request{Token: r.full, Body: []byte(nominalBody)}
	var a shortpath.Answer
	b.ReportAllocs()
	for b.Loop() {
		a.Reset()
		r.readings.ServePost(&q, &a)
	}
	if a.Status != http.StatusCreated {
		b.Fatalf("status %d", a.Status)
	}
}

func BenchmarkBatch(b *testing.B) {
	api, token := benchAPI(b)
	lines := strings.Repeat(nominalBody+"\n", 1000)
	for name, text := range map[string]string{
		httpapi.TypeNDJSON: lines,
		httpapi.TypeJSON:   `{"readings":[` + strings.TrimSuffix(strings.Repeat(nominalBody+",", 1000), ",") + `]}`,
	} {
		b.Run(name, func(b *testing.B) {
			r := httptest.NewRequest(http.MethodPost, "/api/v1/readings/batch", nil)
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("Content-Type", name)
			r.ContentLength = int64(len(text))
			body := strings.NewReader(text)
			r.Body = rewoundString{body}
			w := &nullWriter{h: make(http.Header)}
			b.ReportAllocs()
			for b.Loop() {
				body.Reset(text)
				clear(w.h)
				api.ServeHTTP(w, r)
			}
			b.ReportMetric(float64(b.N)*1000/b.Elapsed().Seconds(), "readings/s")
		})
	}
}

type rewoundString struct{ *strings.Reader }

func (rewoundString) Close() error { return nil }

func BenchmarkLatest100k(b *testing.B) {
	api, token := benchAPI(b)
	r := httptest.NewRequest(http.MethodGet, "/api/v1/readings/latest", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	w := &nullWriter{h: make(http.Header)}
	b.ReportAllocs()
	for b.Loop() {
		clear(w.h)
		api.ServeHTTP(w, r)
	}
}

// blockingWriter signals that a reading has come in, and waits.
type blockingWriter struct {
	instantWriter
	entered, block chan struct{}
}

func (b blockingWriter) Submit(ctx context.Context, inputs []store.Input, said []store.Vitals) error {
	close(b.entered)
	<-b.block
	return b.instantWriter.Submit(ctx, inputs, said)
}
