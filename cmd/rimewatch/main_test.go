package main

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/sqlite"
)

// Every flag of every command has an environment variable of its name and says
// what it is for.
func TestFlags(t *testing.T) {
	k := newParser(streams{out: io.Discard, err: io.Discard})
	commands := 0
	err := kong.Visit(k.Model, func(n kong.Visitable, next kong.Next) error {
		node, ok := n.(*kong.Node)
		if !ok {
			return next(nil)
		}
		if node.Type == kong.CommandNode {
			commands++
			if node.Help == "" || !strings.HasSuffix(node.Help, ".") {
				t.Errorf("%s: help %q", node.Path(), node.Help)
			}
		}
		for _, f := range node.Flags {
			if f.Name == "help" {
				continue
			}
			want := "RIMEWATCH_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
			if f.Name == "data" && node.Name == "demo" {
				want = "RIMEWATCH_DEMO_DATA" // a demo must not find the operator's data
			}
			if !slices.Equal(f.Envs, []string{want}) {
				t.Errorf("%s --%s: %v, want %s", node.Path(), f.Name, f.Envs, want)
			}
			if f.Help == "" || !strings.HasSuffix(f.Help, ".") {
				t.Errorf("%s --%s: help %q", node.Path(), f.Name, f.Help)
			}
		}
		return next(nil)
	})
	if err != nil || commands < 14 {
		t.Fatal(commands, err)
	}
}

func TestHelpIsACommandToo(t *testing.T) {
	for args, want := range map[string]string{"": "--help", "help": "--help", "help token create": "token create --help", "serve --help": "serve --help"} {
		if got := strings.Join(asFlags(strings.Fields(args)), " "); got != want {
			t.Errorf("%q is read as %q, want %q", args, got, want)
		}
	}
}

func TestRunExitCodes(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		args string
		code int
		err  string
	}{
		{"version", 0, ""},
		{"serve --nothing", exitUsage, "unknown flag --nothing (see rimewatch serve --help)"},
		{"fly", exitUsage, "unexpected argument fly (see rimewatch --help)"},
		{"token list --data " + dir + " --workspace W", exitFailed, "there is no store in " + dir},
		{"token create --data " + dir + " --workspace W --name x", exitFailed, "there is no store in " + dir + "; use --create to create it"},
		{"user add --data " + dir + " --workspace W x@example.com", exitFailed, "there is no store in " + dir + "; use --create to create it"},
		{"token create --data " + dir + " --workspace W --name x --expires soon", exitUsage, `--expires "soon": want a duration such as 90d or 12h`},
	} {
		var out, errOut bytes.Buffer
		code := run(strings.Fields(tt.args), streams{in: strings.NewReader(""), out: &out, err: &errOut})
		want := ""
		if tt.err != "" {
			want = "rimewatch: " + tt.err + "\n"
		}
		if code != tt.code || errOut.String() != want {
			t.Errorf("%s: %d, %q, want %q", tt.args, code, errOut.String(), want)
		}
	}
	if made, err := os.ReadDir(dir); err != nil || len(made) > 0 {
		t.Errorf("commands that failed have made %v, %v", made, err)
	}
}

// TestEnvironment: a misspelt setting ends every command, others are named.
func TestEnvironment(t *testing.T) {
	for _, tt := range []struct {
		environ []string
		code    int
		err     string
	}{
		{[]string{"RIMEWATCH_RATE_LIMIT=1", "RIMEWATCH_OIDC_CLIENT_SECRET=x", "RIMEWATCH_SERVICE_HOST=10.0.0.1"}, 0, ""},
		{[]string{"RIMEWATCH_ZEBRA=1", "RIMEWATCH_MAIL_FROM=x"}, 0, "rimewatch: no settings, and ignored: RIMEWATCH_MAIL_FROM, RIMEWATCH_ZEBRA\n"},
		{[]string{"RIMEWATCH_RATELIMIT=1"}, exitUsage, "rimewatch: the environment has RIMEWATCH_RATELIMIT, which is not a known setting, did you mean RIMEWATCH_RATE_LIMIT?\n"},
	} {
		var out, errOut bytes.Buffer
		code := start([]string{"version"}, streams{strings.NewReader(""), &out, &errOut, tt.environ})
		if code != tt.code || errOut.String() != tt.err || (out.Len() == 0) == (code == 0) {
			t.Errorf("%v: %d, %q, %q", tt.environ, code, out.String(), errOut.String())
		}
	}
}

// TestStoreIsNamed: a command that makes a store says where, beside what it prints.
func TestStoreIsNamed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cold")
	for i, want := range []string{"rimewatch: there was no store in " + dir + ", so this makes one; only a server with --data " + dir + " uses it\n", ""} {
		var out, errOut bytes.Buffer
		if i == 0 {
			t.Chdir(filepath.Dir(dir))
		}
		code := run([]string{"token", "create", "--data", "cold", "--workspace", "W", "--create", "--name", "x"}, streams{in: strings.NewReader(""), out: &out, err: &errOut})
		if code != 0 || errOut.String() != want || len(strings.TrimSpace(out.String())) != rimewatch.TokenLen {
			t.Errorf("%d: %q, %q, want %q", code, out.String(), errOut.String(), want)
		}
	}
}

// What the command line changes is in the audit trail under its name.
func TestCommandLineIsAudited(t *testing.T) {
	dir := t.TempDir()
	var out, errOut bytes.Buffer
	if code := run([]string{"token", "create", "--data", dir, "--workspace", "W", "--create", "--name", "x"}, streams{in: strings.NewReader(""), out: &out, err: &errOut}); code != 0 {
		t.Fatal(code, errOut.String())
	}
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(dir, sqlite.FileName), ControlOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	list, _, err := s.Audit().AuditEntries(t.Context(), 1, "", "", store.Page{Limit: 10})
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	for i, action := range []string{"token.created", "workspace.created"} {
		if e := list[i]; e.Actor != "command line" || e.Action != action {
			t.Errorf("%s %s, want %s", e.Actor, e.Action, action)
		}
	}
}

func TestParseSpan(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90d": 90 * 24 * time.Hour, "1.5d": 36 * time.Hour, "12h": 12 * time.Hour, "1h30m": 90 * time.Minute,
		"": 0, "d": 0, "-1d": 0, "0s": 0, "10": 0, "99999999d": 0,
	} {
		got, err := parseSpan(text)
		if (err != nil) != (want == 0) || (err == nil && got != want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestParseSpeed(t *testing.T) {
	for text, want := range map[string]float64{"max": 0, "1x": 1, "60x": 60, "0.5": 0.5, "0x": -1, "fast": -1, "NaNx": -1, "-1x": -1} {
		got, err := parseSpeed(text)
		if (err != nil) != (want < 0) || (err == nil && got != want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestLatencies(t *testing.T) {
	var l latencies
	if l.quantile(0.5) != 0 || l.max() != 0 {
		t.Error("there is a quantile of nothing")
	}
	r := rand.New(rand.NewPCG(1, 2))
	all := make([]time.Duration, 5000)
	for i := range all {
		all[i] = time.Duration(math.Exp(r.Float64()*18) * 1000) // 1 µs to 65 s
		l.add(all[i])
	}
	slices.Sort(all)
	for _, q := range []float64{0.01, 0.5, 0.9, 0.99, 0.999, 1} {
		want := all[int(math.Ceil(q*float64(len(all))))-1]
		if got := l.quantile(q); got < want-time.Microsecond || float64(got) > float64(want)*1.0201+2000 {
			t.Errorf("p%v: %v, want %v", 100*q, got, want)
		}
	}
	if l.max() != all[len(all)-1] {
		t.Error(l.max())
	}
	l.add(100 * time.Hour)
	if l.quantile(1) > 100*time.Hour {
		t.Error(l.quantile(1))
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", -999: "-999", 12345678: "12,345,678"} {
		if got := grouped(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

func TestFindToken(t *testing.T) {
	plain := rimewatch.NewToken(func() byte { return 9 })
	list := []store.TokenView{
		{Token: rimewatch.Token{ID: 1, Prefix: "rw_abcdef", Hash: rimewatch.HashToken(plain)}},
		{Token: rimewatch.Token{ID: 2, Prefix: "rw_abcxyz"}},
	}
	for what, want := range map[string]int64{"1": 1, "2": 2, "3": 0, "rw_abcd": 1, "rw_abcxyz": 2, "rw_abc": 0, "rw_": 0, "": 0, plain: 1} {
		got, err := findToken(list, what)
		if (err != nil) != (want == 0) || (err == nil && got.ID != want) {
			t.Errorf("%q: %v, %v", what, got, err)
		}
	}
}

func TestPlain(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{errors.New("x"), "x"},
		{rimewatch.Errorf(rimewatch.CodeNotFound, "There is none."), "There is none."},
		{rimewatch.Invalid("b", "is odd").With("a", "is low"), "a is low; b is odd"},
	} {
		if got := oneLine(plain(tt.err)); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

func TestProgressInAFile(t *testing.T) {
	var b bytes.Buffer
	p := newProgress(&b)
	if p.due() {
		t.Error("a line is due at once")
	}
	p.show("%d", 1)
	p.clear()
	if b.String() != "1\n" {
		t.Errorf("%q", b.String())
	}
}

// TestDefaultSettings: a demo is not served from the store of the shell's environment,
// nor is it a node of its cluster.
func TestDefaultSettings(t *testing.T) {
	t.Setenv("RIMEWATCH_STORE", "postgres://127.0.0.1/production")
	t.Setenv("RIMEWATCH_CLUSTER_SECRET", "a secret of nodes")
	t.Setenv("RIMEWATCH_HEAD_MEMORY", "77")
	c, err := defaultSettings()
	if err != nil {
		t.Fatal(err)
	}
	c.Listen = "127.0.0.1:0"
	if reflect.ValueOf(c).IsZero() || c.DrainPeriod == 0 || c.HeadMemory == 0 || c.HeadMemory == 77 || c.Store != "" || c.Validate() != nil {
		t.Errorf("%+v", c)
	}
}
