package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
)

type addressCmd struct {
	Show addressShowCmd `cmd:"" help:"Show the address."`
	Set  addressSetCmd  `cmd:"" help:"Set the address that links in mails and messages, devices and labels lead to. A running server uses it at once, unless it was started with --public-url."`
}

type addressShowCmd struct{ dataFlag }

// Run prints the address.
func (c *addressShowCmd) Run(ctx context.Context, s streams) error {
	if err := c.mustExist(); err != nil {
		return err
	}
	return c.accounts(ctx, func(ctx context.Context, a *account.Service, _ rimewatch.Time) error {
		_, err := fmt.Fprintln(s.out, cmp.Or(a.Address(ctx), "not set"))
		return err
	})
}

type addressSetCmd struct {
	dataFlag
	URL string `arg:"" placeholder:"URL" help:"http://HOST or https://HOST, with a port or a path."`
}

// Run sets the address.
func (c *addressSetCmd) Run(ctx context.Context, s streams) error {
	if err := c.mustExist(); err != nil {
		return err
	}
	return c.accounts(ctx, func(ctx context.Context, a *account.Service, _ rimewatch.Time) error {
		text, err := rimewatch.NormalAddress(c.URL)
		if err == nil {
			err = a.ChangeAddress(ctx, text)
		}
		if err == nil && rimewatch.AddressOnlyHere(text) {
			_, err = fmt.Fprintln(s.err, "rimewatch: only this computer can reach that address; phones and devices cannot")
		}
		return err
	})
}
