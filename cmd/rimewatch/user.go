package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
)

type userCmd struct {
	Add           userAddCmd   `cmd:"" help:"Add a user to a workspace."`
	ResetPassword userResetCmd `cmd:"" help:"Set a new password for a user and end their sessions."`
	BreakGlass    userGlassCmd `cmd:"" help:"Name the owner who keeps a password beside the sign-in provider, in place of another."`
}

type passwordFlag struct {
	PasswordStdin bool `help:"Read the password from standard input. By default one is generated and printed."`
}

// read returns the password from standard input, or "" when one is to be made up.
func (f *passwordFlag) read(s streams) (string, error) {
	if !f.PasswordStdin {
		return "", nil
	}
	line, err := bufio.NewReader(io.LimitReader(s.in, 4096)).ReadString('\n')
	if err != nil && err != io.EOF {
		return "", fmt.Errorf("read the password: %w", err)
	}
	password := strings.TrimRight(line, "\r\n")
	if password == "" {
		return "", fmt.Errorf("there is no password on standard input")
	}
	return password, nil
}

type userAddCmd struct {
	dataFlag
	workspaceFlag
	passwordFlag
	Create   bool   `help:"Create the workspace, and the store, if they do not exist."`
	Email    string `arg:"" help:"E-mail address to sign in with."`
	FullName string `name:"name" placeholder:"NAME" help:"Name of the user."`
	Role     string `default:"viewer" enum:"viewer,technician,admin,owner" help:"viewer, technician, admin or owner."`
}

// Run adds the person. A password that was made up is printed alone.
func (c *userAddCmd) Run(ctx context.Context, s streams) error {
	if err := c.mustExistUnless(c.Create, s.err); err != nil {
		return err
	}
	password, err := c.read(s)
	if err != nil {
		return err
	}
	madeUp := password == ""
	if madeUp {
		password = rand.Text()
	}
	return c.accounts(ctx, func(ctx context.Context, a *account.Service, now rimewatch.Time) error {
		p, err := c.operator(ctx, a, &c.Create, now)
		if err != nil {
			return err
		}
		_, err = a.AddUser(ctx, p.WorkspaceID, account.UserRequest{Email: c.Email, Name: c.FullName, Password: password, Role: rimewatch.Role(c.Role)}, now)
		if err != nil {
			return err
		}
		return printPassword(s, madeUp, password)
	})
}

func printPassword(s streams, show bool, password string) error {
	if !show {
		return nil
	}
	_, err := fmt.Fprintln(s.out, password)
	return err
}

type userResetCmd struct {
	dataFlag
	passwordFlag
	RemoveSecondFactor bool   `help:"Also remove the user's second factor, for someone who has lost the app and the recovery codes."`
	Local              bool   `help:"For someone who signs in at the provider: from now on with this password, in the roles that the groups gave last."`
	Email              string `arg:"" help:"E-mail address of the user."`
}

// Run sets the password.
func (c *userResetCmd) Run(ctx context.Context, s streams) error {
	if err := c.mustExist(); err != nil {
		return err
	}
	password, err := c.read(s)
	if err != nil {
		return err
	}
	return c.accounts(ctx, func(ctx context.Context, a *account.Service, now rimewatch.Time) error {
		set, err := a.ResetPassword(ctx, c.Email, password, c.Local, now)
		if err != nil {
			return err
		}
		if err := c.secondFactor(ctx, a, s.err); err != nil {
			return err
		}
		return printPassword(s, password == "", set)
	})
}

// secondFactor removes the second factor where that was asked for, and otherwise
// says that there still is one.
func (c *userResetCmd) secondFactor(ctx context.Context, a *account.Service, out io.Writer) error {
	if c.RemoveSecondFactor {
		_, err := a.RemoveFactorOf(ctx, c.Email)
		return err
	}
	has, err := a.HasFactor(ctx, c.Email)
	if err == nil && has {
		_, err = fmt.Fprintln(out, "The user has a second factor, which stays; --remove-second-factor removes it.")
	}
	return err
}

type userGlassCmd struct {
	dataFlag
	Email string `arg:"" help:"E-mail address of the user, an owner with a password."`
}

// Run names the break-glass owner.
func (c *userGlassCmd) Run(ctx context.Context, s streams) error {
	if err := c.mustExist(); err != nil {
		return err
	}
	return c.accounts(ctx, func(ctx context.Context, a *account.Service, _ rimewatch.Time) error {
		if err := a.NameBreakGlass(ctx, c.Email); err != nil {
			return err
		}
		has, err := a.HasFactor(ctx, c.Email)
		if err == nil && !has {
			_, err = fmt.Fprintln(s.err, "This account has no second factor yet: set one up, since its password gets in whatever the provider says.")
		}
		return err
	})
}
