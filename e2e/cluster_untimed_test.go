package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
)

// untimed is a device without a clock: its readings have a number, and the time of
// their arrival. What is answered 503 was not stored, and is sent again, unless the answer
// says that it may be; of that, and of what is not answered, nobody knows, so it is not.
type untimed struct {
	sender
	begun rimewatch.Time
	fate  map[int64]int // of each number
}

// What may become of a reading.
const (
	underWay = iota // or not known
	acknowledged
)

// drive sends to one node after the other until ctx ends.
func (u *untimed) drive(ctx context.Context, c *cluster) {
	again := false
	for node := u.number; ctx.Err() == nil; node++ {
		if !again {
			u.count++
			u.fate[int64(u.count)] = underWay
		}
		r := client.Reading{DeviceSerial: u.serial, Measurements: client.Measurements{ProductZoneTemp: client.Value(3.0), RunSeconds: client.Value(int64(u.count))}}
		_, _, err := c.client(&u.sender, node, once).PostReading(context.WithoutCancel(ctx), r)
		if err == nil {
			u.fate[int64(u.count)] = acknowledged
		}
		again = client.StatusOf(err) == http.StatusServiceUnavailable && !strings.Contains(err.Error(), "may have been stored")
		c.note(fmt.Sprintf("number %d of %s through node %d", u.count, u.serial, node%clusterNodes), err)
		select {
		case <-ctx.Done():
		case <-time.After(rand.N(pauseMS * time.Millisecond)):
		}
	}
}

// verify compares what was acknowledged with what is stored.
func (u *untimed) verify(c *client.Client) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	found := make(map[int64]bool)
	for r, err := range c.History(ctx, u.serial, client.HistoryQuery{From: u.begun - 10*rimewatch.Minute, To: rimewatch.TimeOf(time.Now()) + rimewatch.Hour}) {
		if err != nil {
			return err
		}
		switch n := *r.RunSeconds; {
		case u.fate[n] == underWay && n > int64(u.count):
			return fmt.Errorf("number %d was never sent", n)
		case found[n]:
			return fmt.Errorf("number %d is stored twice", n)
		default:
			found[n] = true
		}
	}
	for n, fate := range u.fate {
		if fate == acknowledged && !found[n] {
			return fmt.Errorf("number %d was acknowledged and is lost", n)
		}
	}
	return nil
}
