package bench

import (
	"fmt"
	"runtime"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/simulate"
)

// simulated makes the last n minutes of units of the fitted types, by the
// physics of package simulate. Benchmarks of size deal them out to devices.
func simulated(units, n int) ([][]rimewatch.Reading, error) {
	end := rimewatch.TimeOf(time.Now()) - 5*rimewatch.Minute
	members, err := simulate.NewFleet(simulate.FleetConfig{
		Seed: 7, Units: units, Equipment: simulate.FittedEquipment(), Start: end - rimewatch.Time(n)*rimewatch.Minute, Step: 10 * time.Second,
	})
	if err != nil {
		return nil, err
	}
	configs := make([]simulate.Config, len(members))
	for i := range members {
		configs[i] = members[i].Config
	}
	out := make([][]rimewatch.Reading, units)
	err = simulate.Generate(configs, end, runtime.NumCPU(), func(i int, _ *simulate.Unit, history []rimewatch.Reading) {
		out[i] = history[:min(n, len(history))]
	})
	return out, err
}

func serial(i int) string { return fmt.Sprintf("BENCH-%06d", i) }

// createDevices registers n devices over many connections; more is added to
// their bodies.
func createDevices(s *server, n int, more string) error {
	const conns = 32
	_, err := drive(s.addr, conns, time.Hour, 201, func(w, k int, buf []byte) []byte {
		i := k*conns + w
		if i >= n {
			return nil
		}
		body := fmt.Appendf(nil, `{"serial":%q,"name":"Unit %d","equipment_type":%q%s}`, serial(i), i, []string{"walkin_freezer", "reach_in_freezer"}[i%2], more)
		return request(buf, "POST", "/api/v1/devices", s.token, "application/json", body)
	})
	return err
}
