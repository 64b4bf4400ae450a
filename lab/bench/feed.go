package bench

import (
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/rimewatch/rimewatch"
)

const (
	feedConns   = 8
	feedUnits   = 100                 // simulated units, dealt out to the devices
	feedMinutes = 2 * 1440            // of each; then they begin again
	feedPast    = 300 * rimewatch.Day // how long ago the first reading was
)

// feed makes the readings of a fleet whose devices report once a minute, in
// event time. What a simulated unit measures is encoded once; a request copies
// it behind serial and time, so that the generator leaves the cores to the
// server. Each connection owns a range of the devices and sends what belongs to
// one device in order.
type feed struct {
	devices int
	json    *texts           // the eight fields, by minute and unit, as a device writes them
	line    *texts           // the same as fields of a line of InfluxDB's protocol
	start   rimewatch.Time   // of the first minute
	next    []rimewatch.Time // by device: its next reading's time since start
	turn    []int            // by connection: the device whose turn it is, within its range
	random  []*rand.Rand     // by connection
}

// texts are many short texts in one piece, for few pointers.
type texts struct {
	all  []byte
	ends []uint32
}

func (t *texts) end() { t.ends = append(t.ends, uint32(len(t.all))) }

func (t *texts) get(i int) []byte {
	from := uint32(0)
	if i > 0 {
		from = t.ends[i-1]
	}
	return t.all[from:t.ends[i]]
}

// order is which device's reading comes next on a connection, and how long
// after its last one. It is called for the n-th reading of a request.
type order func(f *feed, w, n int) (device int, step rimewatch.Time)

// newFeed simulates the units.
func newFeed() (*feed, error) {
	units, err := simulated(feedUnits, feedMinutes)
	if err != nil {
		return nil, err
	}
	f := &feed{json: &texts{}, line: &texts{}}
	for m := range feedMinutes {
		for u := range units {
			f.add(&units[u][min(m, len(units[u])-1)])
		}
	}
	return f, nil
}

// add encodes the next reading of the table.
func (f *feed) add(r *rimewatch.Reading) {
	f.json.all = appendFields(f.json.all, r, `,"`, `":`, `,"`)
	f.json.end()
	f.line.all = appendFields(f.line.all, r, ``, `=`, `,`)
	f.line.end()
}

// appendFields writes name and value of every field; sep stands between two.
func appendFields(b []byte, r *rimewatch.Reading, first, is, sep string) []byte {
	before := first
	for i := range rimewatch.NumCore {
		b = append(append(append(b, before...), i.String()...), is...)
		b = strconv.AppendFloat(b, r.Values[i], 'f', -1, 64)
		before = sep
	}
	return b
}

// fleet returns a feed of n devices, each at its own moment of the minute.
func (f *feed) fleet(n int) *feed {
	now := rimewatch.TimeOf(time.Now())
	g := &feed{devices: n, json: f.json, line: f.line, start: (now - feedPast) / rimewatch.Minute * rimewatch.Minute}
	g.next = make([]rimewatch.Time, n)
	for i := range g.next {
		g.next[i] = rimewatch.Time(int64(i) * int64(rimewatch.Minute) / int64(n))
	}
	return g.over(feedConns)
}

// over returns the feed as it goes on over as many connections.
func (f *feed) over(conns int) *feed {
	g := *f
	g.turn, g.random = make([]int, conns), make([]*rand.Rand, conns)
	for w := range g.random {
		g.random[w] = rand.New(rand.NewPCG(uint64(w), 3))
	}
	return &g
}

// own is the range of devices that a connection sends for.
func (f *feed) own(w int) (from, n int) {
	from, end := w*f.devices/len(f.turn), (w+1)*f.devices/len(f.turn)
	return from, end - from
}

// inTurn is the load that counts: every device once a minute, one after the
// other, so that a thousand readings are of a thousand devices.
func inTurn(f *feed, w, _ int) (int, rimewatch.Time) {
	from, n := f.own(w)
	i := f.turn[w]
	if f.turn[w]++; f.turn[w] == n {
		f.turn[w] = 0
	}
	return from + i, rimewatch.Minute
}

// friendly lets a device send ten minutes at once.
func friendly(f *feed, w, n int) (int, rimewatch.Time) {
	if n%10 == 0 {
		return inTurn(f, w, n)
	}
	from, own := f.own(w)
	return from + (f.turn[w]+own-1)%own, rimewatch.Minute
}

// atRandom draws the device.
func atRandom(f *feed, w, _ int) (int, rimewatch.Time) {
	from, n := f.own(w)
	return from + f.random[w].IntN(n), rimewatch.Minute
}

// tenHot lets ten devices send 99 % of the readings, one a second each.
func tenHot(f *feed, w, n int) (int, rimewatch.Time) {
	if n%100 == 0 {
		return inTurn(f, w, n)
	}
	from, _ := f.own(w)
	hot := 1
	if w < 10%len(f.turn) {
		hot = 2
	}
	return from + n%hot, rimewatch.Second
}

// scatter sets every device's clock ahead by up to twelve hours of its own.
func (f *feed) scatter() {
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range f.next {
		f.next[i] += rimewatch.Time(rnd.Int64N(int64(12 * rimewatch.Hour)))
	}
}

// reading draws the next reading: its device, its time and where its fields are.
func (f *feed) reading(w, n int, next order) (device int, at rimewatch.Time, fields int) {
	device, step := next(f, w, n)
	t := f.next[device]
	f.next[device] += step
	at = f.start + t
	if step == rimewatch.Minute { // up to two seconds of jitter
		at += rimewatch.Time((uint32(device)*2654435761 ^ uint32(t/rimewatch.Minute)*2246822519) >> 16 % 4001)
	}
	// Devices that share a unit are not at the same moment of it.
	minute := (int(t/rimewatch.Minute) + device/1000*37) % (len(f.json.ends) / feedUnits)
	return device, at, minute*feedUnits + device%feedUnits
}

// batchForm is how a batch is written.
type batchForm struct {
	contentType          string
	open, between, close string
}

var (
	asJSON   = batchForm{"application/json", `{"readings":[`, ",", `]}`}
	asNDJSON = batchForm{"application/x-ndjson", "", "\n", "\n"}
)

// bulk returns requests of as many readings, for the service.
func (f *feed) bulk(form batchForm, size int, token string, next order) func(w, n int, buf []byte) []byte {
	return func(w, _ int, buf []byte) []byte {
		buf, at := openRequest(buf, "/api/v1/readings/batch", token, form.contentType)
		body := len(buf)
		buf = append(buf, form.open...)
		for n := range size {
			if n > 0 {
				buf = append(buf, form.between...)
			}
			buf = f.appendJSON(buf, w, n, next)
		}
		buf = append(buf, form.close...)
		return closeRequest(buf, at, len(buf)-body)
	}
}

// batches returns such requests as JSON.
func (f *feed) batches(size int, token string, next order) func(w, n int, buf []byte) []byte {
	return f.bulk(asJSON, size, token, next)
}

// singles returns requests of one reading, for the service.
func (f *feed) singles(token string, next order) func(w, n int, buf []byte) []byte {
	return func(w, n int, buf []byte) []byte {
		buf, at := openRequest(buf, "/api/v1/readings", token, "application/json")
		body := len(buf)
		buf = f.appendJSON(buf, w, n, next)
		return closeRequest(buf, at, len(buf)-body)
	}
}

func (f *feed) appendJSON(b []byte, w, n int, next order) []byte {
	device, at, fields := f.reading(w, n, next)
	b = appendSerial(append(b, `{"device_serial":"`...), device)
	b = at.Append(append(b, `","recorded_at":"`...))
	return append(append(append(b, '"'), f.json.get(fields)...), '}')
}

// lines returns requests of as many lines of InfluxDB's protocol, for
// VictoriaMetrics or, with a token, for the service.
func (f *feed) lines(size int, token string, next order) func(w, n int, buf []byte) []byte {
	return func(w, k int, buf []byte) []byte {
		buf, at := openRequest(buf, "/write?precision=ms", token, "text/plain")
		body := len(buf)
		for n := range size {
			if size == 1 {
				n = k
			}
			device, t, fields := f.reading(w, n, next)
			buf = appendSerial(append(buf, `reading,device=`...), device)
			buf = append(append(append(buf, ' '), f.line.get(fields)...), ' ')
			buf = append(strconv.AppendInt(buf, int64(t), 10), '\n')
		}
		return closeRequest(buf, at, len(buf)-body)
	}
}

// appendSerial appends serial(i).
func appendSerial(b []byte, i int) []byte {
	b = append(b, "BENCH-000000"...)
	for k := len(b) - 1; i > 0; k-- {
		b[k] = byte('0' + i%10)
		i /= 10
	}
	return b
}

// openRequest begins a request whose length is filled in by closeRequest.
func openRequest(b []byte, path, token, contentType string) (_ []byte, length int) {
	b = append(append(append(b, "POST "...), path...), " HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer "...)
	b = append(append(append(append(b, token...), "\r\nContent-Type: "...), contentType...), "\r\nContent-Length:          "...)
	length = len(b)
	return append(b, "\r\n\r\n"...), length
}

// closeRequest writes the length of the body before the end of its header.
func closeRequest(b []byte, length, n int) []byte {
	for i := length - 1; n > 0; i-- {
		b[i] = byte('0' + n%10)
		n /= 10
	}
	return b
}
