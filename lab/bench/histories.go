package bench

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
)

const (
	historiesDevices = 10_000
	historiesEach    = 100 // readings of a device
	historiesBatch   = 5000
)

// benchHistories: how long one program takes to read all readings of a fleet, streamed.
func benchHistories(o *options) error {
	devices := historiesDevices
	if o.quick {
		devices /= 10
	}
	n := devices * historiesEach
	heading("Histories: %d readings of %d devices read by one program", n, devices)
	s, err := start("child-app", filepath.Join(o.dir, "histories"))
	if err != nil {
		return err
	}
	defer s.kill()
	if err := createDevices(s, devices, ""); err != nil {
		return err
	}
	api, err := client.New("http://"+s.addr, s.token, nil)
	if err != nil {
		return err
	}
	begins := rimewatch.TimeOf(time.Now()) - historiesEach*rimewatch.Minute
	var batch []client.Reading
	for i := range n {
		at := begins + rimewatch.Time(i/devices)*rimewatch.Minute
		batch = append(batch, client.Reading{DeviceSerial: serial(i % devices), RecordedAt: at, Measurements: client.Measurements{
			ProductZoneTemp: client.Value(-20 + float64(i%37)/10), AmpDraw: client.Value(8 + float64(i%13)/10), AmbientTemp: client.Value(22.5),
		}})
		if len(batch) == historiesBatch || i == n-1 {
			if _, err := api.PostBatch(context.Background(), batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	began := time.Now()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, fmt.Sprintf("http://%s/api/v1/readings?from=%s", s.addr, begins.Std().Add(-time.Minute).UTC().Format(time.RFC3339)), nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Accept", "application/x-ndjson")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	read, lines := 0, bufio.NewScanner(resp.Body)
	for lines.Scan() {
		read++
	}
	if err := lines.Err(); err != nil {
		return err
	}
	took := time.Since(began)
	row(fmt.Sprintf("%s, readings of which arrived", resp.Status), fmt.Sprintf("%d of %d", read, n), "all", read == n)
	row("from the request to the last line", fmt.Sprintf("%.1f s", took.Seconds()), "≤ 10 s", o.quick || took <= 10*time.Second)
	return nil
}
