package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
)

// sdkMain is the program sdk of TestSDKs: a scenario with the client in Go.
func sdkMain() {
	c, err := client.New(os.Getenv("RIMEWATCH_URL"), os.Getenv("RIMEWATCH_TOKEN"), &client.Options{MinBackoff: 10 * time.Millisecond, MaxBackoff: 100 * time.Millisecond})
	check(err)
	sdkScenarios[os.Args[1]](context.Background(), c, os.Args[2:])
}

func show(values ...any) {
	b, err := json.Marshal(values)
	check(err)
	fmt.Println(string(b))
}

func number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	check(err)
	return n
}

func refusal(err error) *client.Error {
	e, ok := errors.AsType[*client.Error](err)
	if !ok {
		check(err)
	}
	return e
}

// sdkScenarios print what those of the other languages print (sdk/python/scenarios.py).
var sdkScenarios = map[string]func(ctx context.Context, c *client.Client, args []string){
	"lists": func(ctx context.Context, c *client.Client, args []string) {
		site, serials := number(args[0]), []string{}
		for d, err := range c.Devices(ctx, client.DeviceFilter{SiteID: site, Labels: map[string]string{"row": "1"}}) {
			check(err)
			serials = append(serials, d.Serial)
		}
		show(serials)
	},
	"refused": func(ctx context.Context, c *client.Client, _ []string) {
		_, _, err := c.PostReading(ctx, client.Reading{DeviceSerial: "S-1", Measurements: client.Measurements{Humidity: client.Value(500.0)}})
		e := refusal(err)
		fields := []string{}
		for f := range e.Failure.Fields {
			fields = append(fields, f)
		}
		show(e.Status, e.Failure.Code, slices.Sorted(slices.Values(fields)), e.RequestID != "")
	},
	"changed": func(ctx context.Context, c *client.Client, args []string) {
		site := client.Request{Method: http.MethodGet, Path: "/sites/" + args[0]}
		first, err := c.Call(ctx, site)
		check(err)
		change := func(address string) error {
			_, err := c.Call(ctx, client.Request{Method: http.MethodPatch, Path: site.Path, Body: map[string]string{"address": address}, IfMatch: first.ETag})
			return err
		}
		check(change("1 High Street"))
		e := refusal(change("2 High Street"))
		show(e.Status, e.Failure.Code)
		now, err := c.Call(ctx, site)
		check(err)
		var data struct{ Site struct{ Address string } }
		check(json.Unmarshal(now.Data, &data))
		show(data.Site.Address)
	},
	"merged": func(ctx context.Context, c *client.Client, args []string) {
		_, err := c.Call(ctx, client.Request{Method: http.MethodPatch, Path: "/devices/" + args[0], Body: map[string]any{"labels": map[string]any{"row": nil, "aisle": "7"}}, Merge: true})
		check(err)
		d, err := c.Device(ctx, args[0])
		check(err)
		show(d.Labels)
	},
	"created": func(ctx context.Context, c *client.Client, args []string) {
		d, err := c.CreateDevice(ctx, args[0], client.DeviceFields{EquipmentType: client.Value("walkin_freezer")})
		check(err)
		show(d.Serial)
	},
	"untimed": func(ctx context.Context, c *client.Client, args []string) {
		_, _, err := c.PostReading(ctx, client.Reading{DeviceSerial: args[0], Measurements: client.Measurements{ProductZoneTemp: client.Value(-18.0)}})
		if _, refused := errors.AsType[*client.Error](err); err != nil && !refused {
			show("broken")
		}
	},
	"timed": func(ctx context.Context, c *client.Client, args []string) {
		at, err := rimewatch.ParseTime(args[1])
		check(err)
		r, _, err := c.PostReading(ctx, client.Reading{DeviceSerial: args[0], RecordedAt: at, Measurements: client.Measurements{ProductZoneTemp: client.Value(-18.0)}})
		check(err)
		show(*r.ProductZoneTemp)
	},
	"history": func(ctx context.Context, c *client.Client, args []string) {
		var last client.StoredReading
		n, ordered := 0, true
		for r, err := range c.Histories(ctx, client.HistoriesQuery{Serials: strings.Split(args[0], ",")}) {
			check(err)
			ordered = ordered && (r.DeviceSerial > last.DeviceSerial || r.DeviceSerial == last.DeviceSerial && r.RecordedAt > last.RecordedAt)
			last, n = r, n+1
		}
		show(n, ordered)
	},
	"events": func(ctx context.Context, c *client.Client, args []string) {
		left := number(args[2])
		for e, err := range c.Events(ctx, client.EventQuery{After: args[0], Types: strings.Split(args[1], ","), Every: 50 * time.Millisecond}) {
			check(err)
			show(e.Type, e.Subject, e.ID)
			if left--; left == 0 {
				return
			}
		}
	},
	"stream": func(ctx context.Context, c *client.Client, args []string) {
		left := number(args[0])
		for e, err := range c.Stream(ctx, client.Subscription{Channel: client.ChannelDevices}) {
			check(err)
			switch {
			case e.Kind == client.Subscribed:
				show("subscribed", e.Recovered)
			case e.Device != nil:
				show(e.Kind, e.Device.Serial)
				left--
			}
			if left == 0 {
				return
			}
		}
	},
	"hooks": func(ctx context.Context, c *client.Client, args []string) {
		w, secret, err := c.Webhooks().Create(ctx, client.WebhookFields{URL: &args[0], Types: []string{"alert.opened"}})
		check(err)
		show(w.Types, strings.HasPrefix(secret, "whsec_"))
		ping, err := c.Webhooks().Ping(ctx, w.ID)
		check(err)
		same := 0
		for d, err := range c.Webhooks().Deliveries(ctx, w.ID) {
			check(err)
			if d.ID != ping.ID {
				same = -1
			}
			same++
		}
		show(same == 1)
		next, err := c.Webhooks().RotateSecret(ctx, w.ID)
		check(err)
		show(next != secret)
		again, err := c.Webhooks().Replay(ctx, w.ID, args[1])
		check(err)
		show(again.ID == w.ID)
		off, err := c.Webhooks().Update(ctx, w.ID, client.WebhookFields{Description: client.Value("ERP"), Enabled: client.Value(false)})
		check(err)
		show(off.Enabled)
		var all []string
		for one, err := range c.Webhooks().All(ctx) {
			check(err)
			all = append(all, one.Description)
		}
		show(all)
		check(c.Webhooks().Delete(ctx, w.ID))
		_, err = c.Webhooks().Get(ctx, w.ID)
		show(client.StatusOf(err), rimewatch.CodeOf(err))
	},
	"webhook": func(_ context.Context, _ *client.Client, args []string) {
		for _, text := range args[1:] {
			var w struct {
				Headers map[string]string
				Body    string
				Now     int64
			}
			check(json.Unmarshal([]byte(text), &w))
			h := make(http.Header)
			for name, value := range w.Headers {
				h.Set(name, value)
			}
			show(client.VerifyWebhook(args[0], h, []byte(w.Body), time.Unix(w.Now, 0)))
		}
	},
}
