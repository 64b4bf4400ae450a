package evaluate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/simulate"
)

// sensorOutcome is what became of a sensor event.
type sensorOutcome struct {
	kind                   string
	reported, named, fault bool
	after                  float64
}

// sensors plays sensor events on healthy units.
func (w *wildRun) sensors() error {
	types := wildTypes()
	n := w.o.Seeds * 5 / 2
	results := make([]sensorOutcome, n)
	err := parallel(w.ctx, w.o.Workers, n, func(i int) (err error) {
		seed := w.first + 200_000 + uint64(i)
		results[i], err = watchSensor(types[int(mixed(seed)%uint64(len(types)))], seed)
		return err
	})
	if err != nil {
		return err
	}
	kinds := map[string][]sensorOutcome{}
	var order []string
	for _, r := range results {
		if kinds[r.kind] == nil {
			order = append(order, r.kind)
		}
		kinds[r.kind] = append(kinds[r.kind], r)
	}
	slices.Sort(order)
	fmt.Fprintln(w.out, "| what happens to a sensor | units | reported within two weeks | with its name | reported as a machine fault | after, median |")
	fmt.Fprintln(w.out, "|---|---|---|---|---|---|")
	print := func(name string, list []sensorOutcome) (named, wrong int) {
		t := 0
		var after []float64
		for _, r := range list {
			if r.reported {
				t++
				after = append(after, r.after)
			}
			if r.named {
				named++
			}
			if r.fault {
				wrong++
			}
		}
		fmt.Fprintf(w.out, "| %s | %d | %d | %d | %d | %s |\n", name, len(list), t, named, wrong, amount(quantile(after, 0.5)))
		return named, wrong
	}
	for _, k := range order {
		print(k, kinds[k])
	}
	named, wrong := print("**all**", results)
	w.sensorAims(named, wrong, n)
	fmt.Fprintln(w.out)
	return nil
}

// watchSensor plays a healthy unit with one sensor event halfway.
func watchSensor(equipment string, seed uint64) (sensorOutcome, error) {
	start := startOf(seed)
	end := start + 50*rimewatch.Day
	wild, err := simulate.Draw(equipment, seed, start, end, true)
	if err != nil {
		return sensorOutcome{}, err
	}
	e := wild.Config.Flaws.Events[0]
	res := sensorOutcome{kind: e.Kind.String()}
	l, err := live(&wild, wild.Cut, end)
	if err != nil {
		return res, err
	}
	l.judged(0, func(_ *rimewatch.Reading, is truth, out []event) {
		for i := range out {
			v := &out[i]
			if v.what != "opened" || v.at < e.At {
				continue
			}
			if v.predicts && !trulyIced(v, is) {
				res.fault = true
			}
			if dataAlert(v.typ) && v.at < e.At+14*rimewatch.Day {
				if !res.reported {
					res.reported, res.after = true, float64(v.at-e.At)/float64(rimewatch.Day)
				}
				res.named = res.named || names(&e, v.metric)
			}
		}
	})
	return res, nil
}

// names reports whether a data alert's measure is one that the event concerns.
func names(e *simulate.SensorEvent, metric string) bool {
	concerns := rimewatch.Fields(1 << e.Field)
	if e.Kind == simulate.SensorFahrenheit {
		concerns = temperatures
	} else if e.Kind == simulate.SensorSwap {
		concerns = concerns.With(e.With)
	}
	return measuredBy(metric)&concerns != 0
}

const temperatures = rimewatch.Fields(1<<rimewatch.Humidity - 1)

// measuredBy are the sensors that an alert about sensors is about.
func measuredBy(metric string) rimewatch.Fields {
	switch metric {
	case rimewatch.AllTemperatures:
		return temperatures
	case rimewatch.ZoneAndAmbient:
		return 1<<rimewatch.ProductZoneTemp | 1<<rimewatch.AmbientTemp
	case rimewatch.DischargeAndSuction:
		return 1<<rimewatch.CompressorDischargeTemp | 1<<rimewatch.CompressorSuctionTemp
	}
	if f, ok := rimewatch.FieldByName(metric); ok {
		return 1 << f
	}
	return 0
}

// dataAlert reports whether an alert is about a sensor.
func dataAlert(t rimewatch.AlertType) bool {
	return t == rimewatch.SensorFault || strings.HasPrefix(string(t), "sensor_") && t != rimewatch.SensorStale
}
