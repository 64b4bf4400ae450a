// Command rimewatch monitors commercial refrigeration: the server, a demo, and
// the tools of its operator. Everything it can do is in its help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	_ "time/tzdata" // sites have time zones, and the machine may know none

	"github.com/alecthomas/kong"

	"github.com/rimewatch/rimewatch/internal/config"
)

// commands is the whole command line. Every flag has an environment variable
// of its name, RIMEWATCH_ in front, in capitals.
type commands struct {
	Serve    serveCmd       `cmd:"" group:"run" help:"Run the server."`
	Demo     demoCmd        `cmd:"" group:"run" help:"Run a server with a made-up market, to look around."`
	Simulate simulateCmd    `cmd:"" group:"feed" help:"Send readings of a simulated fleet to a server."`
	Replay   replayCmd      `cmd:"" group:"feed" help:"Send recorded data from a CSV file to a server."`
	Token    tokenCmd       `cmd:"" group:"keep" help:"Create, list and revoke API tokens."`
	Inlet    inletCmd       `cmd:"" group:"keep" help:"Try out how payloads of gateways are read."`
	Apply    applyCmd       `cmd:"" group:"keep" help:"Make a workspace what a file says, over the API."`
	Export   exportCmd      `cmd:"" group:"keep" help:"Write the file that apply reads."`
	Limits   limitsCmd      `cmd:"" group:"keep" help:"Show and set limits of equipment types and devices."`
	Address  addressCmd     `cmd:"" group:"keep" help:"Show and set where people reach this installation."`
	User     userCmd        `cmd:"" group:"keep" help:"Add people and reset their passwords."`
	Backup   backupCmd      `cmd:"" group:"keep" help:"Write a consistent copy of the store, even while the server is running."`
	Restore  restoreCmd     `cmd:"" group:"keep" help:"Restore a backup."`
	Migrate  migrateCmd     `cmd:"" group:"keep" help:"Copy a store into PostgreSQL, or back into a file."`
	Cluster  clusterCmd     `cmd:"" group:"keep" help:"Show and divide the shards of a cluster."`
	Doctor   doctorCmd      `cmd:"" group:"keep" help:"Check a data directory and the machine it is on."`
	Health   healthcheckCmd `cmd:"" name:"healthcheck" group:"keep" help:"Exit with 0 if the server on this machine answers."`
	Manual   manualCmd      `cmd:"" hidden:"" help:"Print the manual page."`
	OpenAPI  openapiCmd     `cmd:"" name:"openapi" group:"about" help:"Print the description of the REST API (OpenAPI 3.1, JSON)."`
	Version  versionCmd     `cmd:"" group:"about" help:"Print the version."`
}

const description = `Rimewatch monitors refrigeration: it stores readings and alerts you when a unit is too warm, silent or about to fail.

Every flag can also be set in the environment: --rate-limit is RIMEWATCH_RATE_LIMIT.`

// streams are where a command writes and reads.
type streams struct {
	in       io.Reader
	out, err io.Writer
	environ  []string // NAME=value
}

// lookup finds a variable of the environment.
func (s streams) lookup(name string) (value string, ok bool) {
	for _, v := range s.environ {
		if value, ok = strings.CutPrefix(v, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

func main() {
	os.Exit(start(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr, os.Environ()}))
}

// start is run in an environment that is looked at before: a misspelt setting must
// not vanish.
func start(args []string, s streams) int {
	known := make(map[string]bool)
	_ = kong.Visit(newParser(s).Model, func(n kong.Visitable, next kong.Next) error {
		if f, ok := n.(*kong.Flag); ok {
			for _, name := range f.Envs {
				known[name] = true
			}
		}
		return next(nil)
	})
	unknown, err := config.CheckEnvironment(s.environ, known)
	if err != nil {
		fmt.Fprintf(s.err, "rimewatch: %s\n", err)
		return exitUsage
	}
	if len(unknown) > 0 {
		fmt.Fprintf(s.err, "rimewatch: no settings, and ignored: %s\n", strings.Join(unknown, ", "))
	}
	return run(args, s)
}

// Exit codes other than 0.
const (
	exitFailed = 1
	exitUsage  = 2
)

// asFlags reads "help serve" as "serve --help", and nothing at all as a question for help.
func asFlags(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case args[0] == "help":
		return append(args[1:], "--help")
	default:
		return args
	}
}

func run(args []string, s streams) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the process at once.
	defer context.AfterFunc(ctx, stop)()

	parser := newParser(s)
	k, err := parser.Parse(asFlags(args))
	if err != nil {
		fmt.Fprintf(s.err, "rimewatch: %s (see %s --help)\n", oneLine(err), usageCommand(err))
		return exitUsage
	}
	k.BindTo(ctx, (*context.Context)(nil))
	if err := k.Run(s); err != nil {
		fmt.Fprintf(s.err, "rimewatch: %s\n", oneLine(err))
		var usage usageError
		if errors.As(err, &usage) {
			return exitUsage
		}
		return exitFailed
	}
	return 0
}

func newParser(s streams) *kong.Kong {
	return kong.Must(new(commands),
		kong.Name("rimewatch"),
		kong.Description(description),
		kong.Writers(s.out, s.err),
		kong.DefaultEnvars("RIMEWATCH"),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 110}),
		kong.ValueFormatter(helpText),
		kong.ExplicitGroups(groups()),
	)
}

// newDefaults fills a struct of flags with their defaults, whatever the environment says.
func newDefaults(flags any) (*kong.Kong, error) {
	return kong.New(flags, kong.PostBuild(func(k *kong.Kong) error {
		for _, f := range k.Model.Flags {
			f.Envs, f.Tag.Envs = nil, nil
		}
		return nil
	}))
}

func groups() []kong.Group {
	return []kong.Group{
		{Key: "run", Title: "Run it:"},
		{Key: "feed", Title: "Feed it:"},
		{Key: "keep", Title: "Manage it:"},
		{Key: "about", Title: "About it:"},
		{Key: "store", Title: "Store:"},
		{Key: "network", Title: "Network:"},
		{Key: "sign-in", Title: "Signing in:"},
		{Key: "limits", Title: "Limits:"},
		{Key: "log", Title: "Log:"},
	}
}

// helpText adds the default to the help of a flag. Environment variables are
// left out: they follow from the names, and the description says so.
func helpText(v *kong.Value) string {
	if v.Default == "" || strings.Contains(v.Help, "Default") {
		return v.Help
	}
	return v.Help + " Default: " + v.Default + "."
}

// usageError is a mistake on the command line that only the command can see.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// usageCommand is the part of the command line that was understood.
func usageCommand(err error) string {
	var parse *kong.ParseError
	if errors.As(err, &parse) {
		if node := parse.Context.Selected(); node != nil {
			return "rimewatch " + node.Path()
		}
	}
	return "rimewatch"
}

// oneLine is an error on one line, whatever it wraps.
func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}
