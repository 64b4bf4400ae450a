package app

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/httpapi/inlets"
	"github.com/rimewatch/rimewatch/internal/inlet"
	"github.com/rimewatch/rimewatch/internal/mqtt"
	"github.com/rimewatch/rimewatch/internal/source"
	"github.com/rimewatch/rimewatch/internal/store"
)

// mqttParts are the listener and the connections of MQTT.
type mqttParts struct {
	Brokers   *mqtt.Brokers
	Listener  *mqtt.Listener // nil where the operator does not ask for it
	plain     net.Listener   // nil likewise
	encrypted net.Listener
}

// setMQTT makes the parts. Nothing connects or listens yet.
func (a *App) setMQTT() {
	a.MQTT.Brokers = mqtt.NewBrokers(mqtt.BrokersConfig{
		Sources: a.Sources, Dial: a.guard.DialContext, Now: a.now, Log: a.log,
		Fleet: func(ctx context.Context, workspaceID int64, yield func(*rimewatch.DeviceView) error) error {
			return store.EachOf(ctx, a.Store, workspaceID, store.DeviceFilter{}, yield)
		},
		List: func(ctx context.Context) ([]rimewatch.Source, error) {
			return a.Store.Everywhere().AllSources(ctx, rimewatch.SourceMQTT)
		},
	})
	if a.cfg.MQTTListen != "" || a.cfg.MQTTSListen != "" {
		a.MQTT.Listener = mqtt.NewListener(mqtt.ListenerConfig{Receiver: counted{a.Sources, a}, Open: a.openInlet, Now: a.now, Log: a.log, Connections: a.mqttConnections()})
	}
}

// mqttConnections returns how many of the connections that the process may have
// are for MQTT, 0 = none or not known. Its clients stay connected; those of HTTP
// mostly come and go.
func (a *App) mqttConnections() int {
	if a.cfg.MQTTListen == "" && a.cfg.MQTTSListen == "" {
		return 0
	}
	return connectionLimit(descriptorLimit()) * 3 / 4
}

// openInlet finds the source of a secret that came over MQTT. A wrong one counts
// against its address, as it does over HTTP.
func (a *App) openInlet(ctx context.Context, secret string, addr netip.Addr) (*source.Live, error) {
	now := a.now()
	l, p, err := inlets.Open(ctx, a.Accounts, a.Sources, secret, now)
	if err != nil {
		a.API.Called(&p, httpapi.AsError(err), &httpapi.CalledWith{At: now, Method: "CONNECT", Path: mqttPath})
	}
	if rimewatch.CodeOf(err) == rimewatch.CodeUnauthenticated {
		if wait := a.API.AuthFailures.Fail(addr, now); wait > 0 {
			return nil, httpapi.ErrTooManyFailures(wait)
		}
	}
	return l, err
}

// mqttPath stands for the path of messages over MQTT: topics contain names of devices.
const mqttPath = "mqtt"

// counted keeps the messages of API tokens as their requests, with the status that they would have had over HTTP.
type counted struct {
	mqtt.Receiver
	app *App
}

// ReceiveAll implements mqtt.Receiver.
func (x counted) ReceiveAll(ctx context.Context, l *source.Live, list []*inlet.Payload) ([]source.Result, error) {
	start, now := time.Now(), x.app.now()
	results, err := x.Receiver.ReceiveAll(ctx, l, list)
	p := account.Principal{WorkspaceID: l.Workspace(), TokenID: l.Opener().TokenID}
	if p.TokenID == 0 {
		return results, err
	}
	took := time.Since(start)
	for i := range list {
		var e *rimewatch.Error
		if why := cmp.Or(err, results[i].Err); why != nil {
			e = httpapi.AsError(why)
		}
		x.app.API.Called(&p, e, &httpapi.CalledWith{At: now, Method: "PUBLISH", Path: mqttPath, Bytes: int64(len(list[i].Body)), Took: took})
	}
	return results, err
}

// inletAddresses returns the addresses for devices other than HTTP.
func (a *App) inletAddresses(cursors [32]byte) inlets.Config {
	return inlets.Config{MQTT: a.cfg.MQTTListen, MQTTS: a.cfg.MQTTSListen, Brokers: a.MQTT.Brokers.State, CursorKey: cursors}
}

// startMQTT listens where the operator asks for it.
func (a *App) startMQTT(ctx context.Context) (err error) {
	m := &a.MQTT
	if m.Listener == nil {
		return nil
	}
	if a.cfg.MQTTListen != "" {
		if m.plain, err = new(net.ListenConfig).Listen(ctx, "tcp", a.cfg.MQTTListen); err != nil {
			return err
		}
		a.serveMQTT(m.plain)
		a.log.Info("taking in MQTT", "address", m.plain.Addr().String())
	}
	if a.cfg.MQTTSListen == "" {
		return nil
	}
	if m.encrypted, err = new(net.ListenConfig).Listen(ctx, "tcp", a.cfg.MQTTSListen); err != nil {
		return err
	}
	a.serveMQTT(tls.NewListener(m.encrypted, a.tls.public()))
	a.log.Info("taking in MQTT over TLS", "address", m.encrypted.Addr().String())
	return nil
}

func (a *App) serveMQTT(on net.Listener) {
	a.workers.Go(func() {
		if err := a.MQTT.Listener.Serve(on); err != nil {
			a.failed <- err
		}
	})
}

// MQTTAddr is where MQTT is taken in without TLS, also when port 0 was asked for.
func (a *App) MQTTAddr() string { return a.MQTT.plain.Addr().String() }

// MQTTSAddr is where MQTT is taken in over TLS.
func (a *App) MQTTSAddr() string { return a.MQTT.encrypted.Addr().String() }

// stopMQTT ends the reception over MQTT, before the write path.
func (a *App) stopMQTT() {
	if a.MQTT.Brokers == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), a.cfg.DrainPeriod)
	defer cancel()
	if a.MQTT.Listener != nil {
		a.MQTT.Listener.Stop(ctx)
	}
	a.MQTT.Brokers.Stop(ctx)
}
