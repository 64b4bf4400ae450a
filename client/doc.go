// Package client speaks the REST API of Rimewatch.
//
//	c, err := client.New("http://127.0.0.1:8080", token, nil)
//	stored, err := c.PostReading(ctx, client.Reading{
//		DeviceSerial: "WIF-0001",
//		Measurements: client.Measurements{ProductZoneTemp: client.Value(-18.4)},
//	})
//
// # Errors
//
// Whatever the service refuses comes back as an *Error with the HTTP status and
// the *rimewatch.Error of the envelope, so that rimewatch.CodeOf(err) returns the
// kind. Other errors are the network's or the context's.
//
// # Retries
//
// A call is tried again, with a growing and jittered wait that is never shorter
// than Retry-After, after 429 and 503: the service says so only when it has done
// nothing. After a broken connection or a gateway's 502 or 504, when nobody
// knows whether the request arrived, only calls that may safely happen twice
// are tried again: reads, changes that set values, heartbeats, imports, and
// readings that carry recorded_at, which the service keeps once.
//
// # Lists
//
// Lists come by page, or as an iterator that follows the cursors to the end:
//
//	for device, err := range c.Devices(ctx, client.DeviceFilter{Status: rimewatch.Offline}) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(device.Serial)
//	}
package client
