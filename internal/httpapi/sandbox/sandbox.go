// Package sandbox is the API of sandboxes: workspaces with simulated devices, in which an
// integrator tries what follows from a fault.
package sandbox

import (
	"context"
	"net/http"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Accounts makes and ends sandboxes.
type Accounts interface {
	CreateSandbox(ctx context.Context, p account.Principal, devices int, now rimewatch.Time) (w rimewatch.Workspace, plain string, err error)
	Sandbox(ctx context.Context, p account.Principal) (rimewatch.Workspace, error)
	EndSandbox(ctx context.Context, p account.Principal, now rimewatch.Time) (rimewatch.Workspace, error)
}

// Devices are those of sandboxes.
type Devices interface {
	Look(ctx context.Context) error // makes the devices of a new sandbox
	Serial(n int) string            // of the nth device, from 1
	// Fault breaks a device and returns its serial as it is written.
	Fault(workspaceID int64, serial, fault string, speed int) (string, error)
}

// api is what the routes share.
type api struct {
	*httpapi.API
	accounts Accounts
	devices  Devices // nil = the operator has switched sandboxes off
}

// Routes returns the routes of sandboxes; without devices they refuse.
func Routes(accounts Accounts, devices Devices) httpapi.Part {
	return func(frame *httpapi.API) []httpapi.Route {
		a := &api{API: frame, accounts: accounts, devices: devices}
		return a.routes()
	}
}

// Body asks for a sandbox.
type Body struct {
	Devices int `json:"devices,omitempty" minimum:"1" maximum:"10" doc:"How many simulated devices it has; others may be registered beside them. Default: 3, a walk-in freezer, a display case and a vaccine refrigerator."`
}

// Data is a sandbox.
type Data struct {
	Workspace wire.Workspace `json:"workspace"`
	Serials   []string       `json:"serials" doc:"Of the simulated devices. They have a day of history."`
}

// NewData is a sandbox that was made just now.
type NewData struct {
	Data
	PlainToken string `json:"plain_token" doc:"The token of the sandbox: everything in it is done with this one. It is shown here and never again."`
}

// FaultInput breaks a device.
type FaultInput struct {
	Serial string `path:"serial" maxLength:"64" doc:"Of a simulated device."`
	Body   FaultBody
}

// FaultBody is a fault.
type FaultBody struct {
	Fault string `json:"fault" enum:"none,offline,power_failure,contactor_open,evaporator_fan_failure,voltage_sag" doc:"none repairs the device; offline has it send nothing."`
	Speed int    `json:"speed,omitempty" minimum:"1" maximum:"600" doc:"How many seconds of the fault pass in one, for ten minutes. Default: 60."`
}

// FaultData is what a device has now.
type FaultData struct {
	DeviceSerial string `json:"device_serial"`
	Fault        string `json:"fault"`
	Speed        int    `json:"speed"`
}

var errOff = rimewatch.Errorf(rimewatch.CodeConflict, "The operator of this service has switched sandboxes off.")

func data(w *rimewatch.Workspace, serial func(n int) string) Data {
	d := Data{Workspace: wire.NewWorkspace(w), Serials: make([]string, w.TestDevices)}
	for i := range d.Serials {
		d.Serials[i] = serial(i + 1)
	}
	return d
}

func (a *api) create(ctx context.Context, in *httpapi.BodyInput[Body]) (NewData, error) {
	c := httpapi.CallOf(ctx)
	if a.devices == nil {
		return NewData{}, errOff
	}
	n := in.Body.Devices
	if n == 0 {
		n = 3
	}
	w, plain, err := a.accounts.CreateSandbox(ctx, c.Principal, n, c.Now)
	if err != nil {
		return NewData{}, err
	}
	return NewData{data(&w, a.devices.Serial), plain}, a.devices.Look(ctx)
}

func (a *api) get(ctx context.Context, _ *httpapi.NoInput) (Data, error) {
	if a.devices == nil {
		return Data{}, errOff
	}
	w, err := a.accounts.Sandbox(ctx, httpapi.CallOf(ctx).Principal)
	if err != nil {
		return Data{}, err
	}
	return data(&w, a.devices.Serial), nil
}

func (a *api) end(ctx context.Context, _ *httpapi.NoInput) (Data, error) {
	c := httpapi.CallOf(ctx)
	if a.devices == nil {
		return Data{}, errOff
	}
	w, err := a.accounts.EndSandbox(ctx, c.Principal, c.Now)
	if err != nil {
		return Data{}, err
	}
	return data(&w, a.devices.Serial), nil
}

func (a *api) fault(ctx context.Context, in *FaultInput) (FaultData, error) {
	if a.devices == nil {
		return FaultData{}, errOff
	}
	speed := in.Body.Speed
	if speed == 0 {
		speed = usualSpeed
	}
	serial, err := a.devices.Fault(httpapi.CallOf(ctx).Workspace(), in.Serial, in.Body.Fault, speed)
	return FaultData{DeviceSerial: serial, Fault: in.Body.Fault, Speed: speed}, err
}

// usualSpeed of a fault is a minute a second.
const usualSpeed = 60

func (a *api) routes() []httpapi.Route {
	access := httpapi.Scope(rimewatch.ScopeSettings)
	return []httpapi.Route{
		{
			Method: http.MethodPost, Path: "/v1/sandbox", ID: "create-sandbox", Tag: "Sandbox", Summary: "Make a sandbox", Access: access, Body: httpapi.OptionalJSONBody, Status: http.StatusCreated,
			Also: []rimewatch.Code{rimewatch.CodeConflict, rimewatch.CodeRateLimited}, Bind: httpapi.Handle(a.create),
			Description: "A workspace with `test: true`, simulated devices and a token of its own, in which a program is tried without hardware. No message leaves it but those of webhooks that are made with its token. " +
				"One at a time, five within 24 hours; it is erased after 7 days, or by DELETE. Ten is the limit of the simulated devices: a program may register more of its own, as in any workspace.",
		},
		{Method: http.MethodGet, Path: "/v1/sandbox", ID: "get-sandbox", Tag: "Sandbox", Summary: "Get the sandbox", Access: access, Also: []rimewatch.Code{rimewatch.CodeConflict, rimewatch.CodeNotFound}, Bind: httpapi.Handle(a.get)},
		{
			Method: http.MethodDelete, Path: "/v1/sandbox", ID: "end-sandbox", Tag: "Sandbox", Summary: "End the sandbox", Access: access, Also: []rimewatch.Code{rimewatch.CodeConflict, rimewatch.CodeNotFound},
			Description: "Its token ends and everything in it is erased within minutes. Another one can be made at once.", Bind: httpapi.Handle(a.end),
		},
		{
			Method: http.MethodPost, Path: "/v1/sandbox/devices/{serial}/fault", ID: "break-sandbox-device", Tag: "Sandbox", Summary: "Break a simulated device", Access: access, Body: httpapi.JSONBody,
			Also: []rimewatch.Code{rimewatch.CodeConflict, rimewatch.CodeDeviceNotFound}, Bind: httpapi.Handle(a.fault),
			Description: "With the token of the sandbox. The fault takes its course `speed` times as fast as a real one, and the devices of a sandbox have short delays, so that its alert opens within seconds: " +
				"`device_offline` in about 20, `power_loss` of power_failure in ten, `low_voltage` of voltage_sag in a minute, `high_temperature` of all but voltage_sag and offline in one to two minutes at the usual speed. `none` ends it, and the alert.",
		},
	}
}
