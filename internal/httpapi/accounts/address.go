package accounts

import (
	"context"
	"net/http"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/wire"
)

type addressed interface {
	Address(ctx context.Context) string
	AddressFixed() bool
	Administers(ctx context.Context, p account.Principal) (bool, error)
	SetAddress(ctx context.Context, p account.Principal, text string) error
}

// AddressJSON is where people reach the installation.
type AddressJSON struct {
	Address  *string  `json:"address" doc:"Without a slash at its end: where links in mails and messages, what devices send to, and the codes of labels lead. null: nobody has said so, and mails and messages have no links."`
	Fixed    bool     `json:"fixed" doc:"The operator has set it by --public-url: it is read-only."`
	OnlyHere bool     `json:"only_here" doc:"It leads to the computer that the server runs on, and nowhere from a phone."`
	Editable bool     `json:"editable" doc:"Whoever asks may change it: the person who has set the installation up, or whom the operator has named since."`
	Offered  []string `json:"offered" doc:"Addresses that it may be given, the likeliest first; empty where it is not editable."`
}

// AddressData is the data of answers about the address.
type AddressData struct {
	Address AddressJSON `json:"address"`
}

// AddressBody changes the address.
type AddressBody struct {
	Address string `json:"address" maxLength:"200" doc:"http://HOST or https://HOST, with a port or a path; empty: it is not known any more."`
}

func (a people) getAddress(ctx context.Context, _ *httpapi.NoInput) (AddressData, error) {
	c := httpapi.CallOf(ctx)
	address := a.service.Address(ctx)
	may, err := a.service.Administers(ctx, c.Principal)
	out := AddressJSON{Address: wire.OrNull(address), Fixed: a.service.AddressFixed(), OnlyHere: rimewatch.AddressOnlyHere(address), Offered: []string{}}
	if out.Editable = may && !out.Fixed; out.Editable {
		out.Offered = a.Offered(c.R)
	}
	return AddressData{out}, err
}

func (a people) setAddress(ctx context.Context, in *httpapi.BodyInput[AddressBody]) (AddressData, error) {
	if err := a.service.SetAddress(ctx, httpapi.CallOf(ctx).Principal, in.Body.Address); err != nil {
		return AddressData{}, err
	}
	return a.getAddress(ctx, nil)
}

func (a people) addressRoutes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: http.MethodGet, Path: "/v1/address", Sited: true, ID: "get-address", Tag: "Workspace", Summary: "Get the address of the installation",
			Access: httpapi.Either(rimewatch.RoleViewer, rimewatch.ScopeDevicesRead), Bind: httpapi.Handle(a.getAddress),
		},
		{
			Method: http.MethodPatch, Path: "/v1/address", ID: "update-address", Tag: "Workspace", Summary: "Change the address of the installation", Body: httpapi.JSONBody,
			Access: httpapi.Person(rimewatch.RoleOwner, "it is the whole installation's"), Also: []rimewatch.Code{rimewatch.CodeConflict},
			Description: "For the person who has set the installation up, or whom the operator has named since (`rimewatch user break-glass`); `rimewatch address set` does the same. It is one setting for all workspaces.",
			Bind:        httpapi.Handle(a.setAddress),
		},
	}
}
