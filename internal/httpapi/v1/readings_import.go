package v1

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/logfile"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

const (
	// importPortion is how many rows are committed together.
	importPortion = 5000
	// importsAtOnce and importsOfWorkspace bound the files that are read at a time: one at
	// its largest takes some 150 MiB meanwhile.
	importsAtOnce, importsOfWorkspace = 3, 2
	// mostListed bounds the gaps and changes that an answer lists.
	mostListed = 20
	// loggerLabel is the label under which a device keeps the serial of its logger.
	loggerLabel = "logger"
)

// ReadingsImportInput are the parameters of a file of readings.
type ReadingsImportInput struct {
	Serial        string `path:"serial"`
	DryRun        string `query:"dry_run" enum:"true,false" default:"false" doc:"Only report what would happen."`
	Zone          string `query:"zone" maxLength:"64" doc:"Time zone of times that name none, such as Europe/Berlin. What the file states goes before it. Default: that of the device's site, else UTC."`
	Unit          string `query:"unit" enum:"C,F,K" doc:"Unit of temperatures of which the file states none. Default: C."`
	Entity        string `query:"entity" maxLength:"200" doc:"The sensor whose rows count, where the file has several."`
	Column        string `query:"column" maxLength:"200" doc:"Heading of the product temperature, where several columns could be it."`
	ConfirmSerial string `query:"confirm_serial" enum:"true,false" default:"false" doc:"Store the readings although the file states the serial of another device's logger."`
	Token         string `query:"token" maxLength:"64" doc:"The token of the preview: what is stored is then what was previewed, or nothing."`
}

// ReadingsImport is the content of a file of readings and the outcome of its import, or rehearsal.
type ReadingsImport struct {
	DryRun    bool           `json:"dry_run"`
	File      LoggerFile     `json:"file"`
	FirstAt   rimewatch.Time `json:"first_at" doc:"Of the rows that are readings; null without any."`
	LastAt    rimewatch.Time `json:"last_at"`
	Rows      int            `json:"rows" doc:"Rows of the table: accepted, duplicates and left_out together."`
	Accepted  int            `json:"accepted" doc:"Rows that were stored, or would be."`
	Duplicate int            `json:"duplicates" doc:"Rows that are stored already."`
	Conflicts int            `json:"conflicts" doc:"Of the duplicates, those of whose moment another value is stored: it is kept."`
	LeftOut   int            `json:"left_out" doc:"Rows that are no readings or may not be stored; reasons says why."`
	Expired   int            `json:"before_retention" doc:"Of the rows that are left out, those older than readings are kept."`

	Reasons   []LeftOutRows     `json:"reasons"`
	Values    []LeftOutRows     `json:"values_left_out" doc:"Values of rows that are stored without them."`
	Gaps      ImportGaps        `json:"gaps"`
	Changes   []ChangeJSON      `json:"excursions" doc:"What changes of the recorded excursions, the first 20. Of an import that is done they are recorded within a minute."`
	Minutes   ExcursionMinutes  `json:"out_of_limits_min" doc:"How long the product was out of limits in the excursions that change."`
	BelongsTo wire.Maybe[Owner] `json:"belongs_to" doc:"The other device that the file's serial is of; null: of none that is known."`
	Choices   []ImportChoice    `json:"choices" doc:"What has to be chosen before anything can be stored: the sensor of this device. Otherwise empty."`
	Warnings  []string          `json:"warnings"`
	Token     string            `json:"token" doc:"Of a preview: sent with the import it has only this very file stored, read in this very way. Otherwise empty."`
}

// LoggerFile are a file's statements about itself.
type LoggerFile struct {
	Serial     string       `json:"serial" doc:"Of the logger, as the file states it; empty: it does not."`
	Encoding   string       `json:"encoding"`
	TimeForm   string       `json:"time_form"`
	Zone       string       `json:"zone" doc:"In which the times of the file were read."`
	ZoneFrom   string       `json:"zone_from" enum:"rows,file,query,site,default" doc:"Who says so: each row, the file, the parameter, the device's site."`
	FirstLocal string       `json:"first_local" doc:"The first time as a clock in that zone shows it; empty without rows."`
	LastLocal  string       `json:"last_local"`
	Entity     string       `json:"entity"`
	Columns    []FileColumn `json:"columns" doc:"Columns that were taken, and for what."`
	Unused     []string     `json:"unused_columns"`
}

// FileColumn is a column that holds a measurement or a state.
type FileColumn struct {
	Heading string   `json:"heading"`
	Field   string   `json:"field"`
	Unit    string   `json:"unit" doc:"In which the values of a temperature were read; empty for others."`
	Stated  bool     `json:"unit_stated" doc:"Whether the file states the unit."`
	Min     *float64 `json:"min" nullable:"true" doc:"In the measurement's own unit; null for states."`
	Max     *float64 `json:"max" nullable:"true"`
}

// LeftOutRows is why rows or values were left out.
type LeftOutRows struct {
	Reason string `json:"reason"`
	Rows   int    `json:"rows"`
	Lines  []int  `json:"lines" doc:"Lines of the first of them; the first line of the file is 1."`
}

// ImportGaps are times in which the logger wrote nothing.
type ImportGaps struct {
	Count int       `json:"count"`
	List  []GapJSON `json:"list" doc:"The first 20."`
}

// GapJSON is a time without readings.
type GapJSON struct {
	From rimewatch.Time `json:"from" nullable:"false"`
	To   rimewatch.Time `json:"to" nullable:"false"`
}

// ChangeJSON is a change of a recorded excursion.
type ChangeJSON struct {
	Change  string         `json:"change" enum:"new,changed,withdrawn"`
	From    rimewatch.Time `json:"from" nullable:"false"`
	To      rimewatch.Time `json:"to" doc:"null while it lasts."`
	Low     bool           `json:"low" doc:"Below the lower limit rather than above the upper."`
	Peak    float64        `json:"peak" doc:"°C"`
	Minutes float64        `json:"minutes"`
}

// ExcursionMinutes are minutes out of limits.
type ExcursionMinutes struct {
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

// Owner is a device.
type Owner struct {
	Serial string `json:"serial"`
	Name   string `json:"name"`
}

// ImportChoice is a sensor or column of a file that may be the device's.
type ImportChoice struct {
	Parameter string  `json:"parameter" enum:"entity,column"`
	Value     string  `json:"value"`
	Rows      int     `json:"rows"`
	Min       float64 `json:"min" doc:"Of its values as the file has them."`
	Max       float64 `json:"max"`
}

// readingsImport is a file on its way in.
type readingsImport struct {
	*core
	call     *httpapi.Call
	device   rimewatch.DeviceView
	rawDays  int
	file     *logfile.File
	zoneFrom string
	rows     []logfile.Row // that may be stored, by time
	out      ReadingsImport
}

func (a devices) importReadings(c *httpapi.Call) error {
	body, mediaType, params := c.Body()
	if mediaType == httpapi.TypeMultipart {
		var e *rimewatch.Error
		if body, e = formFile(body, params["boundary"]); e != nil {
			return e
		}
	}
	ctx := c.R.Context()
	device, err := a.cfg.Fleet.Device(ctx, c.Workspace(), c.R.PathValue("serial"))
	if err != nil {
		return err
	}
	settings, err := a.workspaceOf(ctx)
	if err != nil {
		return err
	}
	release, e := a.importing.Take(ctx, c.Workspace())
	defer release()
	if e != nil {
		return e
	}
	x := &readingsImport{core: a.core, call: c, device: device, rawDays: settings.RawDays}
	x.out.DryRun = c.Query.Get("dry_run") == "true"
	if err := x.read(ctx, body); err != nil {
		return err
	}
	if x.file != nil {
		if err := x.weigh(ctx, body); err != nil {
			return err
		}
		if !x.out.DryRun {
			if err := x.store(ctx); err != nil {
				return err
			}
		}
	}
	return c.Data(http.StatusOK, x.out)
}

// read reads the file. A preview of one that holds several sensors has no file, and asks
// which.
func (x *readingsImport) read(ctx context.Context, body []byte) error {
	c := x.call
	o := logfile.Options{Unit: c.Query.Get("unit"), Entity: c.Query.Get("entity"), Product: c.Query.Get("column")}
	x.zoneFrom = "default"
	if x.device.Site != nil {
		o.Zone, x.zoneFrom = rimewatch.ZoneOf(x.device.Site.TimeZone), "site"
	}
	if name := c.Query.Get("zone"); name != "" {
		zone, err := time.LoadLocation(name)
		if err != nil || name == "Local" {
			return rimewatch.Invalid("zone", "is not a time zone such as Europe/Berlin")
		}
		o.Zone, x.zoneFrom = zone, "query"
	}
	file, err := logfile.Read(body, o)
	var several *logfile.ChoiceError
	switch {
	case errors.As(err, &several) && x.out.DryRun:
		x.ask(several)
	case errors.As(err, &several):
		return rimewatch.Invalid(parameterOf(several), "%v", several.Sentence())
	case err != nil:
		return rimewatch.Invalid("file", "%v", logfile.SentenceOf(err))
	default:
		x.file = file
		x.describe()
		return x.owner(ctx)
	}
	return nil
}

func parameterOf(e *logfile.ChoiceError) string {
	if e.Entity {
		return "entity"
	}
	return "column"
}

// ask returns the sensors that there are to choose from.
func (x *readingsImport) ask(e *logfile.ChoiceError) {
	x.out.empty()
	for _, choice := range e.Choices {
		x.out.Choices = append(x.out.Choices, ImportChoice{Parameter: parameterOf(e), Value: choice.Value, Rows: choice.Rows, Min: choice.Low, Max: choice.High})
	}
}

// empty has all lists answered as such.
func (o *ReadingsImport) empty() {
	o.File.Columns, o.File.Unused = []FileColumn{}, []string{}
	o.File.ZoneFrom = "default"
	o.Reasons, o.Values, o.Gaps.List, o.Changes, o.Choices, o.Warnings = []LeftOutRows{}, []LeftOutRows{}, []GapJSON{}, []ChangeJSON{}, []ImportChoice{}, []string{}
}

// describe returns the content of the file.
func (x *readingsImport) describe() {
	f, o := x.file, &x.out
	o.empty()
	switch {
	case f.Absolute:
		x.zoneFrom = "rows"
	case f.ZoneSaid != "":
		x.zoneFrom = "file"
	}
	o.File = LoggerFile{Serial: f.Serial, Encoding: f.Encoding, TimeForm: f.Form, Zone: f.Zone.String(), ZoneFrom: x.zoneFrom, Entity: f.Entity, Columns: []FileColumn{}, Unused: notNil(f.Unused)}
	for _, k := range f.Columns {
		column := FileColumn{Heading: k.Heading, Field: k.Name, Unit: k.Unit, Stated: k.Stated}
		if k.N > 0 {
			column.Min, column.Max = new(k.Low), new(k.High)
		}
		o.File.Columns = append(o.File.Columns, column)
	}
	say := x.call.Words().Say
	o.Rows = f.Sent
	for _, r := range f.LeftOut {
		o.leaveOut(r.Text.In(say), r.N, r.At)
	}
	for _, r := range f.Cells {
		o.Values = append(o.Values, LeftOutRows{r.Text.In(say), r.N, r.At})
	}
	for i, gap := range f.Gaps() {
		if o.Gaps.Count++; i < mostListed {
			o.Gaps.List = append(o.Gaps.List, GapJSON{gap.From, gap.To})
		}
	}
	o.FirstAt, o.LastAt = f.Rows[0].At, f.Rows[len(f.Rows)-1].At
	o.File.FirstLocal, o.File.LastLocal = localTime(o.FirstAt, f.Zone), localTime(o.LastAt, f.Zone)
	x.window()
}

func localTime(at rimewatch.Time, zone *time.Location) string {
	return at.Std().In(zone).Format("2006-01-02 15:04:05")
}

// leaveOut counts rows that are not stored.
func (o *ReadingsImport) leaveOut(reason string, n int, lines []int) {
	o.LeftOut += n
	o.Reasons = append(o.Reasons, LeftOutRows{reason, n, lines})
}

// window takes out the rows whose times may not be stored.
func (x *readingsImport) window() {
	now := x.Now()
	oldest := max(now-rimewatch.Time(x.rawDays)*rimewatch.Day, rimewatch.ClockSet)
	rows := x.file.Rows
	cut := func(n int, rest []logfile.Row, format rimewatch.Sentence) {
		if n == 0 {
			return
		}
		var lines []int
		for i := range rest[:min(len(rest), 3)] {
			lines = append(lines, int(rest[i].Line))
		}
		x.out.leaveOut(format.In(x.call.Words().Say), n, lines)
	}
	begin, end := 0, len(rows)
	for begin < len(rows) && rows[begin].At < oldest {
		begin++
	}
	for end > begin && rows[end-1].At > now+rimewatch.FutureTolerance {
		end--
	}
	clockless := 0
	for clockless < begin && rows[clockless].At < rimewatch.ClockSet {
		clockless++
	}
	x.out.Expired = begin - clockless
	cut(clockless, rows[:clockless], rimewatch.Sentencef("is from before 2015: the logger's clock was not set"))
	cut(begin-clockless, rows[clockless:begin], rimewatch.Sentencef("is older than readings are kept"))
	cut(len(rows)-end, rows[end:], rimewatch.Sentencef("is in the future"))
	if end < len(rows) {
		x.warn(rimewatch.Sentencef("Some of the rows are in the future: check the time zone."))
	}
	x.rows = rows[begin:end]
}

func (x *readingsImport) warn(s rimewatch.Sentence) {
	x.out.Warnings = append(x.out.Warnings, s.In(x.call.Words().Say))
}

// owner finds out whether the serial that the file states is another device's: its own, or
// that of the logger that was imported last.
func (x *readingsImport) owner(ctx context.Context) error {
	serial := x.file.Serial
	if serial == "" || strings.EqualFold(serial, x.device.Serial) || strings.EqualFold(serial, x.device.Labels[loggerLabel]) {
		return nil
	}
	found := func(v *rimewatch.DeviceView) {
		x.out.BelongsTo.Value = &Owner{v.Serial, v.Name}
	}
	switch v, err := x.cfg.Fleet.Device(ctx, x.device.WorkspaceID, serial); rimewatch.CodeOf(err) {
	case "":
		found(&v)
	case rimewatch.CodeDeviceNotFound:
		labels := map[string]string{loggerLabel: serial}
		list, _, err := x.cfg.Fleet.Devices(ctx, x.device.WorkspaceID, store.DeviceFilter{Labels: &labels}, store.Page{Limit: 1})
		if err != nil {
			return err
		}
		if len(list) > 0 {
			found(&list[0])
		}
	default:
		return err
	}
	if x.out.BelongsTo.Value != nil && !x.out.DryRun && x.call.Query.Get("confirm_serial") != "true" {
		e := rimewatch.Errorf(rimewatch.CodeConflict, "The file is of the logger of another device. Confirm that its readings are of this one.")
		return e.With("serial", "%s is of %s", serial, x.out.BelongsTo.Value.Serial)
	}
	return nil
}

// weigh finds out what of the rows is new and, in a preview, what it would change.
func (x *readingsImport) weigh(ctx context.Context, body []byte) error {
	token := x.token(body)
	if sent := x.call.Query.Get("token"); sent != "" && !hmac.Equal([]byte(sent), []byte(token)) {
		return rimewatch.Invalid("token", "is of another file, or of a file that was read in another way")
	}
	if !x.out.DryRun {
		return nil
	}
	x.out.Token = token
	fresh, err := x.compare(ctx)
	if err != nil {
		return err
	}
	if err := x.shifted(ctx); err != nil {
		return err
	}
	x.otherUnit()
	changes, err := x.cfg.Writer.Rehearse(ctx, x.device.ID, fileRows{x.file, fresh})
	if err != nil {
		return err
	}
	for i := range changes {
		x.change(&changes[i])
	}
	return nil
}

// fileRows are rows of a file as readings.
type fileRows struct {
	file *logfile.File
	rows []logfile.Row
}

func (f fileRows) Len() int                { return len(f.rows) }
func (f fileRows) At(i int) rimewatch.Time { return f.rows[i].At }
func (f fileRows) Reading(i int) rimewatch.Reading {
	r := f.file.Reading(&f.rows[i])
	r.Flags = r.Flags.WithBool(rimewatch.Imported, true)
	return r
}

func (x *readingsImport) change(c *rimewatch.ExcursionChange) {
	minutes := func(e *rimewatch.Excursion) float64 {
		if e == nil {
			return 0
		}
		end := x.out.LastAt
		return math.Round(float64(e.Lasted(max(end, e.From)))/float64(rimewatch.Minute)*10) / 10
	}
	is, what := c.Is, "changed"
	switch {
	case c.Was == nil:
		what = "new"
	case c.Is == nil:
		is, what = c.Was, "withdrawn"
	}
	x.out.Minutes.Before += minutes(c.Was)
	x.out.Minutes.After += minutes(c.Is)
	if len(x.out.Changes) < mostListed {
		x.out.Changes = append(x.out.Changes, ChangeJSON{Change: what, From: is.From, To: is.To, Low: is.Low, Peak: is.Peak, Minutes: minutes(is)})
	}
}

// token stands for this file, read in this way, for this device.
func (x *readingsImport) token(body []byte) string {
	h := hmac.New(sha256.New, x.cfg.CursorKey[:])
	sum := sha256.Sum256(body)
	_, _ = fmt.Fprintf(h, "import %d %x %q", x.device.ID, sum, []string{x.file.Zone.String(), x.call.Query.Get("unit"), x.call.Query.Get("entity"), x.call.Query.Get("column")})
	return hex.EncodeToString(h.Sum(nil)[:20])
}

// compare counts the rows that are stored already, as the store will, and returns the others.
func (x *readingsImport) compare(ctx context.Context) (fresh []logfile.Row, err error) {
	if len(x.rows) == 0 {
		return nil, nil
	}
	const beside = 100 * rimewatch.Millisecond // where the store puts what else has one moment
	var near []rimewatch.Reading               // stored ones from the next row's moment on
	next := 0
	until := func(end rimewatch.Time) {
		for ; next < len(x.rows) && x.rows[next].At+beside < end; next++ {
			row := &x.rows[next]
			for len(near) > 0 && near[0].At < row.At {
				near = near[1:]
			}
			r := x.file.Reading(row)
			stored, conflicts, place := settle(&r, near, beside)
			switch {
			case stored:
				near = append(near, rimewatch.Reading{})
				copy(near[place+1:], near[place:])
				near[place] = r
				fresh = append(fresh, *row)
			case conflicts:
				x.out.Conflicts++
				fallthrough
			default:
				x.out.Duplicate++
			}
		}
	}
	q := store.HistoryQuery{DeviceID: x.device.ID, From: x.rows[0].At, To: x.rows[len(x.rows)-1].At + beside + 1}
	err = x.cfg.History.Readings(ctx, q, func(r *rimewatch.Reading) error {
		until(r.At)
		near = append(near, *r)
		return nil
	})
	until(math.MaxInt64)
	x.out.Accepted = len(fresh)
	return fresh, err
}

// settle finds the place of a reading among those from its moment on: of what they do not
// have it is stored in the next free millisecond.
func settle(r *rimewatch.Reading, near []rimewatch.Reading, beside rimewatch.Time) (stored, conflicts bool, place int) {
	at := r.At
	for place < len(near) && near[place].At <= r.At {
		if near[place].At == r.At {
			conflicts = conflicts || r.Conflicts(&near[place]) != 0
			left := r.Without(&near[place])
			if left.Empty() || r.At-at >= beside {
				return false, conflicts, place
			}
			*r = left
			r.At++
		}
		place++
	}
	return true, conflicts, place
}

// shifted warns of values that are stored already some hours earlier or later: then the file
// was imported before, or its device sends by itself, and the time zone is another.
func (x *readingsImport) shifted(ctx context.Context) error {
	const sampled, most, step, least = 300, 60, 15 * rimewatch.Minute, 8
	type value struct {
		at rimewatch.Time
		v  float64
	}
	var sample []value
	low, high := math.Inf(1), math.Inf(-1)
	for i := range x.rows[:min(len(x.rows), sampled)] {
		r := x.file.Reading(&x.rows[i])
		if v, ok := r.Value(rimewatch.ProductZoneTemp); ok {
			sample = append(sample, value{r.At, v})
			low, high = min(low, v), max(high, v)
		}
	}
	if len(sample) < least || high-low < 0.3 {
		return nil // what hardly changes is the same at any time
	}
	stored := make(map[rimewatch.Time]float64)
	q := store.HistoryQuery{DeviceID: x.device.ID, From: max(sample[0].at-most*step, rimewatch.MinTime), To: sample[len(sample)-1].at + most*step + 1, Limit: 100_000}
	err := x.cfg.History.Readings(ctx, q, func(r *rimewatch.Reading) error {
		if v, ok := r.Value(rimewatch.ProductZoneTemp); ok {
			stored[r.At] = v
		}
		return nil
	})
	if err != nil || len(stored) < least {
		return err
	}
	matches := func(by rimewatch.Time) (n int) {
		for _, s := range sample {
			if v, ok := stored[s.at+by]; ok && math.Abs(v-s.v) < 0.006 {
				n++
			}
		}
		return n
	}
	best, by := matches(0), rimewatch.Time(0)
	for k := rimewatch.Time(1); k <= most; k++ {
		for _, d := range []rimewatch.Time{k * step, -k * step} {
			if n := matches(d); n > best && 5*n >= 4*len(sample) {
				best, by = n, d
			}
		}
	}
	hours := func(t rimewatch.Time) string { return rimewatch.Decimal(float64(t) / float64(rimewatch.Hour)) }
	switch {
	case by > 0:
		x.warn(rimewatch.Sentencef("The same values are stored already, %s h later: check the time zone.", hours(by)))
	case by < 0:
		x.warn(rimewatch.Sentencef("The same values are stored already, %s h earlier: check the time zone.", hours(-by)))
	}
	return nil
}

// otherUnit warns of temperatures without a stated unit that fit the device's limits in the
// other unit only.
func (x *readingsImport) otherUnit() {
	limits := x.device.LimitsInForce()
	if limits.TempMax == nil && limits.TempMin == nil {
		return
	}
	off := func(v float64) float64 { // how far a temperature is out of limits
		switch {
		case limits.TempMax != nil && v > *limits.TempMax:
			return v - *limits.TempMax
		case limits.TempMin != nil && v < *limits.TempMin:
			return *limits.TempMin - v
		}
		return 0
	}
	for _, c := range x.file.Columns {
		if c.Name != rimewatch.ProductZoneTemp.String() || c.Stated || c.N == 0 {
			continue
		}
		middle := (c.Low + c.High) / 2
		fahrenheit, celsius := (middle-32)*5/9, middle*9/5+32
		switch {
		case c.Unit == "°C" && off(middle) > 10 && off(fahrenheit) < 5:
			x.warn(rimewatch.Sentencef("The values look like °F, and the file states no unit."))
		case c.Unit == "°F" && off(middle) > 10 && off(celsius) < 5:
			x.warn(rimewatch.Sentencef("The values look like °C, and the file states no unit."))
		}
	}
}

// store stores the rows, in portions. After an error some of them are, and are duplicates
// when the file is sent again.
func (x *readingsImport) store(ctx context.Context) error {
	o, rows := &x.out, fileRows{x.file, x.rows}
	inputs := make([]store.Input, 0, min(len(x.rows), importPortion))
	for i := 0; i < rows.Len(); {
		inputs = inputs[:0]
		for ; i < rows.Len() && len(inputs) < importPortion; i++ {
			inputs = append(inputs, store.Input{Kind: store.InputReading, DeviceID: x.device.ID, Reading: rows.Reading(i)})
		}
		if err := x.cfg.Writer.Submit(ctx, inputs, nil); err != nil {
			return err
		}
		for k := range inputs {
			switch in := &inputs[k]; in.Outcome {
			case store.Accepted:
				o.Accepted++
			case store.Duplicate:
				o.Duplicate++
				if in.Conflicts != 0 {
					o.Conflicts++
				}
			case store.Failed:
				return rimewatch.Errorf(rimewatch.CodeInternal, "What is stored about this device cannot be read.")
			default:
				return &rimewatch.Error{Code: rimewatch.CodeUnavailable, Message: "The device was deleted a moment ago. Send the reading again.", RetryAfter: time.Second}
			}
		}
	}
	return x.remember(ctx)
}

// remember has the device keep the serial of its logger, by which a file of it that is taken
// for another device's is noticed.
func (x *readingsImport) remember(ctx context.Context) error {
	serial := x.file.Serial
	if serial == "" || strings.EqualFold(serial, x.device.Serial) || x.device.Labels[loggerLabel] == serial {
		return nil
	}
	_, err := x.cfg.Writer.UpdateDevice(ctx, x.device.WorkspaceID, x.device.Serial, func(d *rimewatch.Device) error {
		if _, has := d.Labels[loggerLabel]; !has && len(d.Labels) >= maxLabels {
			return nil
		}
		labels := maps.Clone(d.Labels)
		if labels == nil {
			labels = make(map[string]string)
		}
		labels[loggerLabel] = serial
		d.Labels = labels
		return nil
	})
	return err
}

func (a devices) readingsImportRoute() httpapi.Route {
	return httpapi.Route{
		Method: http.MethodPost, Path: "/v1/devices/{serial}/readings/import", Sited: true, ID: "import-readings", Tag: "Readings", Summary: "Store the file of a logger",
		Access: httpapi.ScopeOr(rimewatch.ScopeReadingsWrite, rimewatch.ScopeDevicesRead), Repeats: true, Also: []rimewatch.Code{rimewatch.CodeConflict},
		Body: httpapi.BodyRule{Types: []string{httpapi.TypeCSV, "text/plain", "text/tab-separated-values", "application/vnd.ms-excel", httpapi.TypeBinary, "application/x-www-form-urlencoded", httpapi.TypeMultipart}, Bulk: true, File: true},
		Description: "The file of a logger or an app as it is, as the body or as the file of a form: a table of times and measurements, separated by comma, semicolon, tab or `|`, in UTF-8, UTF-16, Shift-JIS or Windows-1252, also below a report. " +
			"Unit, time zone and the logger's serial are taken from what the file states.\n\n" +
			"With `dry_run=true` nothing is stored, and the answer says what would be: first and last local time, gaps, duplicates, what changes of the recorded excursions, and where the file has several sensors the `choices` of `entity` or `column`. " +
			"Send its `token` with the import to have just that stored.\n\n" +
			"An import completes the record: it is no sign of life and never raises an alert. Each row is `accepted`, one of the `duplicates`, or counted in `left_out` with the reason, so that sending a file again is always safe. " +
			"After an error some of more than 5,000 rows may be stored.\n\n" +
			"The serial that a file states is kept as the device's label `logger`. A file that states the serial or the logger of another device is refused with 409 unless `confirm_serial=true`.",
		Bind: httpapi.Raw[ReadingsImportInput, ReadingsImport](a.importReadings),
	}
}
