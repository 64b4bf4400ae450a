package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/config"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/postgres"
	"github.com/rimewatch/rimewatch/internal/store/sqlite"
)

var errNoStore = errors.New("there is no store")

const defaultData = "./data"

// dataFlag names the data directory, or the database that is used instead.
type dataFlag struct {
	Data  string `default:"./data" placeholder:"DIR" help:"Data directory."`
	Store string `placeholder:"URL" help:"PostgreSQL database that is used instead of a file in the data directory: postgres://USER@HOST/DATABASE."`
}

func (f *dataFlag) file() string { return filepath.Join(f.Data, sqlite.FileName) }

// serviceSettings are the environment of the service that the package installs.
const serviceSettings = "/etc/rimewatch/rimewatch.env"

// orInstalled means the store of the installed service where none was named and none is
// in the default directory: nobody has to know where the package keeps its own. Where those
// settings cannot be read, the error says which rights it takes.
func (f *dataFlag) orInstalled(settings string) error {
	if f.Store != "" || f.Data != defaultData {
		return nil
	}
	if _, err := os.Stat(f.file()); err == nil {
		return nil
	}
	text, err := os.ReadFile(settings)
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("there is no store in %s, and where the installed service has its own is in %s, which only root may read: try sudo", f.Data, settings)
	}
	for line := range strings.Lines(string(text)) {
		switch name, value, _ := strings.Cut(strings.TrimSpace(line), "="); name {
		case "RIMEWATCH_DATA":
			f.Data = strings.Trim(value, `"'`)
		case "RIMEWATCH_STORE":
			f.Store = strings.Trim(value, `"'`)
		}
	}
	return nil
}

// mustExist returns an error when there is no store in the directory, nor an installed
// service with one.
func (f *dataFlag) mustExist() error {
	if err := f.orInstalled(serviceSettings); err != nil {
		return err
	}
	if f.Store != "" {
		return nil
	}
	_, err := os.Stat(f.file())
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w in %s", errNoStore, f.Data)
	case err != nil:
		return fmt.Errorf("cannot read the store in %s: %w", f.Data, reason(err))
	}
	return nil
}

// mustExistUnless is mustExist where the operator has not said that a store may
// be made. One that will be made is announced on w: in a wrong directory it
// would be a second one, and no server would know what is in it.
func (f *dataFlag) mustExistUnless(create bool, w io.Writer) error {
	err := f.mustExist()
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, errNoStore):
		return err
	case !create:
		return fmt.Errorf("%w; use --create to create it", err)
	}
	dir, err := filepath.Abs(f.Data)
	if err != nil {
		dir = f.Data
	}
	fmt.Fprintf(w, "rimewatch: there was no store in %s, so this makes one; only a server with --data %s uses it\n", dir, dir)
	return nil
}

// open opens accounts and settings, also beside a running server.
func (f *dataFlag) open(ctx context.Context) (store.Store, error) {
	if f.Store == "" {
		return sqlite.Open(ctx, sqlite.Config{Path: f.file(), ControlOnly: true})
	}
	if err := config.CheckStore(f.Store); err != nil {
		return nil, usageError{err}
	}
	return postgres.Open(ctx, postgres.Config{URL: f.Store, ControlOnly: true})
}

// accounts opens the accounts of the store, also beside a running server, and
// lets work do its work on them in the name of the command line.
func (f *dataFlag) accounts(ctx context.Context, work func(context.Context, *account.Service, rimewatch.Time) error) (err error) {
	st, err := f.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return plain(work(store.WithActor(ctx, "command line"), account.New(account.Config{Store: st}), rimewatch.TimeOf(time.Now())))
}

// workspaceFlag names a workspace.
type workspaceFlag struct {
	Workspace string `required:"" placeholder:"NAME" help:"Name of the workspace."`
}

// operator acts in the workspace. create is nil where the command cannot make one.
func (f *workspaceFlag) operator(ctx context.Context, a *account.Service, create *bool, now rimewatch.Time) (account.Principal, error) {
	w, err := a.FindWorkspace(ctx, f.Workspace, create != nil && *create, now)
	switch {
	case rimewatch.CodeOf(err) != rimewatch.CodeNotFound:
	case create == nil:
		return account.Principal{}, fmt.Errorf("there is no workspace %q; its name is in the web UI under Settings", f.Workspace)
	default:
		return account.Principal{}, fmt.Errorf("there is no workspace %q; use --create to create it", f.Workspace)
	}
	return account.Operator(w.ID), err
}

// plain is an error of the domain in words for the operator: what is wrong with
// which field, without codes.
func plain(err error) error {
	var e *rimewatch.Error
	if !errors.As(err, &e) || e.Err != nil {
		return err
	}
	if len(e.Fields) == 0 {
		return errors.New(e.Message)
	}
	var all []error
	for _, field := range sortedKeys(e.Fields) {
		for _, what := range e.Fields[field] {
			all = append(all, fmt.Errorf("%s %s", field, what))
		}
	}
	return errors.Join(all...)
}
