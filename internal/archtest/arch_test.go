// Package archtest is the arrow rules as a test: who may import whom.
package archtest

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/rimewatch/rimewatch"

// pure packages import only the root, the standard library without clocks,
// files and networks, and what is listed.
var pure = map[string][]string{
	"internal/weeks":          nil,
	"internal/state":          nil,
	"internal/unit":           {module + "/internal/state"},
	"internal/capability":     {module + "/internal/state", module + "/internal/unit"},
	"internal/alert":          {module + "/internal/state", module + "/internal/unit", module + "/internal/capability", module + "/internal/weeks"},
	"internal/predict":        {module + "/internal/state", module + "/internal/unit"},
	"internal/health":         {module + "/internal/state"},
	"internal/presence":       {module + "/internal/state"},
	"internal/outage":         nil,
	"internal/photo":          nil,
	"internal/record":         nil,
	"internal/limit":          nil,
	"internal/deadline":       nil,
	"internal/clock":          nil,
	"internal/dense":          nil,
	"internal/prefetch":       nil,
	"internal/simulate":       nil,
	"internal/store/chunk":    nil,
	"internal/catalogue":      {"golang.org/x/text/feature/plural", "golang.org/x/text/language"},
	"internal/phrase":         {module + "/internal/catalogue"},
	"internal/notify/message": {module + "/internal/phrase"},
	"internal/notify/plan":    nil,
	"internal/report":         {module + "/internal/phrase", module + "/internal/health", "codeberg.org/go-pdf/fpdf", "golang.org/x/image/font"},
	"internal/wire":           nil,
	"internal/ticket":         nil,
	"internal/inlet":          {module + "/internal/wire", "github.com/expr-lang/expr", "github.com/influxdata/line-protocol/v2"},
	"internal/logfile":        {module + "/internal/inlet", "golang.org/x/text/encoding/charmap", "golang.org/x/text/encoding/japanese"},
	"internal/engine":         {module + "/internal/state", module + "/internal/unit", module + "/internal/alert", module + "/internal/health", module + "/internal/predict", module + "/internal/presence"},
}

// may lists, for every package that is not pure, which of ours it may import
// besides the root. A new package comes with its row.
var may = map[string][]string{
	"client":                     nil,
	"policies":                   nil,
	"docs":                       nil,
	"internal/apply":             nil,
	"cmd/rimewatch":              {"client", "internal/account", "internal/app", "internal/apply", "internal/config", "internal/demo", "internal/httpapi", "internal/httpapi/accounts", "internal/httpapi/events", "internal/httpapi/export", "internal/httpapi/inlets", "internal/httpapi/notifications", "internal/httpapi/push", "internal/httpapi/records", "internal/httpapi/sandbox", "internal/httpapi/submit", "internal/httpapi/v1", "internal/inlet", "internal/logfile", "internal/sandbox", "internal/simulate", "internal/store", "internal/store/migrate", "internal/store/postgres", "internal/store/sqlite"},
	"internal/store":             nil,
	"internal/store/core":        {"internal/dense", "internal/prefetch", "internal/store", "internal/store/chunk", "internal/store/tables", "internal/ticker"},
	"internal/store/tables":      {"internal/record", "internal/store"},
	"internal/store/sqlite":      {"internal/store", "internal/store/core", "internal/store/tables"},
	"internal/store/storetest":   {"internal/store"},
	"internal/publish":           {"internal/store"},
	"internal/rejudge":           {"internal/store", "internal/health"},
	"internal/fleet":             {"internal/store", "internal/store/chunk", "internal/engine", "internal/alert", "internal/deadline", "internal/dense", "internal/prefetch", "internal/health", "internal/presence"},
	"internal/ingest":            {"internal/fleet", "internal/outage", "internal/rejudge", "internal/ticker", "internal/clock", "internal/limit", "internal/wire", "internal/publish", "internal/store", "internal/engine", "internal/alert", "internal/deadline", "internal/health", "internal/presence", "internal/predict"},
	"internal/account":           {"internal/ticker", "internal/catalogue", "internal/store"},
	"internal/httpapi":           {"internal/catalogue", "internal/limit", "internal/phrase", "internal/wire", "internal/store", "internal/account"},
	"internal/httpapi/accounts":  {"internal/httpapi", "internal/phrase", "internal/wire", "internal/store", "internal/account"},
	"internal/event":             {"internal/phrase", "internal/store", "internal/ticker", "internal/wire"},
	"internal/httpapi/events":    {"internal/event", "internal/httpapi", "internal/store", "internal/wire"},
	"internal/httpapi/export":    {"internal/httpapi"},
	"internal/httpapi/submit":    {"internal/httpapi", "internal/httpapi/shortpath", "internal/wire", "internal/store", "internal/account"},
	"internal/httpapi/shortpath": nil,
	"internal/httpapi/described": nil,
	"internal/httpapi/sandbox":   {"internal/account", "internal/httpapi", "internal/wire"},
	"internal/sandbox":           {"internal/store", "internal/ticker"},
	"internal/httpapi/v1":        {"internal/httpapi", "internal/limit", "internal/logfile", "internal/wire", "internal/store", "internal/account", "internal/health", "internal/phrase", "internal/predict", "internal/presence", "policies"},
	"internal/notify":            {"internal/event", "internal/phrase", "internal/wire", "internal/store", "internal/deadline", "internal/notify/message", "internal/notify/plan", "internal/ticket"},
	"internal/notify/outbound":   nil,
	"internal/notify/email":      {"internal/notify/message", "internal/phrase"},
	"internal/notify/webhook":    {"internal/notify/message", "internal/notify/outbound"},
	"internal/notify/service":    {"internal/notify/message", "internal/notify/outbound", "internal/twilio"},
	"internal/notify/push":       {"internal/notify/message", "internal/notify/outbound", "internal/phrase"},
	"internal/httpapi/push":      {"internal/httpapi", "internal/store", "internal/wire"},
	"internal/notify/voice":      {"internal/notify/message", "internal/notify/outbound", "internal/phrase", "internal/twilio"},
	"internal/twilio":            {"internal/phrase", "internal/ticket"},
	"internal/httpapi/voice":     {"internal/httpapi", "internal/phrase", "internal/store", "internal/twilio"},
	"internal/notify/watchdog":   {"internal/ticker", "internal/notify/outbound"},
	"internal/realtime":          {"internal/event", "internal/ticker", "internal/limit", "internal/phrase", "internal/wire", "internal/publish", "internal/store", "internal/account"},
	"internal/provider":          {"internal/account", "internal/store"},
	"internal/config":            nil,
	"internal/trial":             nil,
	"internal/demo":              {"internal/ticker", "client", "internal/account", "internal/app", "internal/config", "internal/notify/message", "internal/notify/webhook", "internal/phrase", "internal/simulate", "internal/store"},
	"internal/app":               {"internal/ticker", "internal/account", "internal/clock", "internal/cluster", "internal/config", "internal/event", "internal/provider", "internal/phrase", "internal/publish", "internal/record", "internal/report/gather", "internal/httpapi", "internal/httpapi/accounts", "internal/httpapi/events", "internal/httpapi/export", "internal/httpapi/inlets", "internal/httpapi/manual", "internal/httpapi/mcp", "internal/httpapi/notifications", "internal/httpapi/push", "internal/httpapi/records", "internal/httpapi/sandbox", "internal/httpapi/shortpath", "internal/httpapi/submit", "internal/httpapi/v1", "internal/httpapi/voice", "internal/ingest", "internal/inlet", "internal/limit", "internal/mqtt", "internal/sandbox", "internal/source", "internal/realtime", "internal/store", "internal/store/postgres", "internal/store/sqlite", "internal/webui", "internal/wire", "internal/notify", "internal/notify/email", "internal/notify/message", "internal/notify/outbound", "internal/notify/push", "internal/notify/service", "internal/notify/voice", "internal/notify/watchdog", "internal/notify/webhook", "internal/ticket", "internal/twilio"},
	"internal/ticker":            nil,
	"internal/webui":             nil,
	"internal/archtest":          nil,
	"e2e":                        nil,
	"e2e/faults":                 {},
	"e2e/states":                 {"internal/app", "internal/config", "internal/store"},

	"internal/cluster":               {"internal/ticker", "internal/httpapi", "internal/store", "internal/wire"},
	"internal/store/postgres":        {"internal/limit", "internal/ticker", "internal/store", "internal/store/core", "internal/store/tables"},
	"internal/store/postgres/pgtest": {"internal/trial"},
	"internal/store/migrate":         {"internal/store", "internal/store/core", "internal/store/tables"},

	"internal/source":                {"internal/ticker", "internal/inlet", "internal/limit", "internal/store", "internal/wire"},
	"internal/mqtt":                  {"internal/ticker", "internal/inlet", "internal/notify/outbound", "internal/source"},
	"internal/httpapi/mcp":           {"internal/httpapi"},
	"internal/httpapi/manual":        {"docs", "internal/httpapi"},
	"internal/httpapi/notifications": {"internal/account", "internal/httpapi", "internal/phrase", "internal/store", "internal/ticket", "internal/wire"},
	"internal/httpapi/records":       {"internal/account", "internal/httpapi", "internal/photo", "internal/phrase", "internal/record", "internal/report", "internal/store", "internal/ticket", "internal/wire"},
	"internal/report/gather":         {"internal/phrase", "internal/report", "internal/store"},
	"internal/httpapi/inlets":        {"internal/account", "internal/httpapi", "internal/inlet", "internal/source", "internal/store", "internal/wire"},
}

// notInPure would bring a clock, a log, files, a network, chance or hidden state; so would
// what is below them, but for net, of which parts only read texts.
var notInPure = []string{"os", "net/http", "log", "database/sql", "crypto/rand", "math/rand", "io/ioutil", "context", "sync/atomic", "syscall", "runtime"}

func impure(path string) bool { return path == "net" || under(path, notInPure) }

// passing waits for time to pass.
var passing = regexp.MustCompile(`\btime\.(Sleep|After|AfterFunc|NewTimer|NewTicker|Tick)\(`)

// reserved imports stand in the named packages only.
var reserved = map[string][]string{
	"zombiezen.com/go/sqlite":                {"internal/store/sqlite"},
	"modernc.org/sqlite":                     {"internal/store/sqlite"},
	"github.com/danielgtaylor/huma/v2":       {"internal/httpapi", "internal/httpapi/events", "internal/httpapi/records", "internal/httpapi/submit", "internal/httpapi/v1"},
	"codeberg.org/go-pdf/fpdf":               {"internal/report"},
	"github.com/alecthomas/kong":             {"cmd/rimewatch"},
	"github.com/nicholas-fedor/shoutrrr":     {"internal/notify/service"},
	"github.com/SherClockHolmes/webpush-go":  {"internal/notify/push"},
	"github.com/wneessen/go-mail":            {"internal/notify/email"},
	"github.com/coreos/go-oidc/v3/oidc":      {"internal/provider"},
	"github.com/coder/websocket":             {"internal/realtime", "client"},
	"github.com/expr-lang/expr":              {"internal/inlet"},
	"github.com/influxdata/line-protocol/v2": {"internal/inlet"},
	"github.com/modelcontextprotocol/go-sdk": {"internal/httpapi/mcp"},
	"github.com/mochi-mqtt/server/v2":        {"internal/mqtt"},
}

type source struct {
	dir, path string
	imports   []string
	text      string
}

// sources parses every Go file of the module that is not a test. Modules below it, such
// as lab, are houses of their own.
func sources(t *testing.T) []source {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var out []source
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			if name := d.Name(); path != root && (err == nil || strings.HasPrefix(name, ".") || name == "node_modules" || name == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		s := source{dir: filepath.ToSlash(filepath.Dir(rel)), path: filepath.ToSlash(rel), text: string(text)}
		for _, i := range f.Imports {
			p, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			s.imports = append(s.imports, p)
		}
		out = append(out, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 40 {
		t.Fatalf("only %d sources found: the test looks in the wrong place", len(out))
	}
	return out
}

func standard(path string) bool { return !strings.Contains(strings.SplitN(path, "/", 2)[0], ".") }

func under(path string, roots []string) bool {
	return slices.ContainsFunc(roots, func(r string) bool { return path == r || strings.HasPrefix(path, r+"/") })
}

func TestArrows(t *testing.T) {
	for _, s := range sources(t) {
		for _, wrong := range s.arrows() {
			t.Errorf("%s: %s", s.path, wrong)
		}
	}
}

// arrows returns what a file imports and may not, and whether a pure one waits.
func (s *source) arrows() (wrong []string) {
	allowed, isPure := pure[s.dir]
	isPure = isPure || s.dir == "."
	if isPure && passing.MatchString(s.text) {
		wrong = append(wrong, "a pure package waits")
	}
	rows, ok := may[s.dir]
	if !isPure && !ok {
		return append(wrong, "the package "+s.dir+" has no row here")
	}
	for _, i := range s.imports {
		ours, found := strings.CutPrefix(i, module+"/")
		switch {
		case isPure && (impure(i) || !standard(i) && (i != module || s.dir == ".") && !under(i, allowed)):
			wrong = append(wrong, "a pure package imports "+i)
		case !isPure && found && !slices.Contains(rows, ours):
			wrong = append(wrong, s.dir+" may not import "+ours)
		}
	}
	return wrong
}

// TestArrowsAreFound: what must not be is noticed.
func TestArrowsAreFound(t *testing.T) {
	for _, s := range []source{
		{dir: ".", imports: []string{"net/http"}},
		{dir: ".", imports: []string{"crypto/rand"}},
		{dir: ".", imports: []string{module + "/internal/limit"}},
		{dir: "internal/unit", imports: []string{"log/slog"}},
		{dir: "internal/unit", imports: []string{"math/rand/v2"}},
		{dir: "internal/health", imports: []string{"os/exec"}},
		{dir: "internal/health", text: "time." + "Sleep(1)"},
		{dir: "internal/alert", imports: []string{module + "/internal/store"}},
		{dir: "internal/realtime", imports: []string{module + "/internal/notify"}},
		{dir: "internal/nowhere"},
	} {
		if len(s.arrows()) != 1 {
			t.Errorf("%s with %v %s: %q", s.dir, s.imports, s.text, s.arrows())
		}
	}
}

// TestRowsAreUsed: a row allows nothing that its package does not import.
func TestRowsAreUsed(t *testing.T) {
	imports := map[string][]string{}
	for _, s := range sources(t) {
		imports[s.dir] = append(imports[s.dir], s.imports...)
	}
	check := func(dir string, allowed ...string) {
		if imports[dir] == nil && dir != "internal/archtest" && len(allowed) > 0 {
			t.Errorf("there is no package %s", dir)
			return
		}
		for _, path := range allowed {
			if !slices.ContainsFunc(imports[dir], func(i string) bool { return under(i, []string{path}) }) {
				t.Errorf("%s may import %s and does not", dir, path)
			}
		}
	}
	for dir, allowed := range pure {
		check(dir, allowed...)
	}
	for dir, allowed := range may {
		for _, ours := range allowed {
			check(dir, module+"/"+ours)
		}
	}
	for path, dirs := range reserved {
		for _, dir := range dirs {
			check(dir, path)
		}
	}
}

// TestTransports keeps the ways out to the network: what is not among these goes
// through internal/notify/outbound.
func TestTransports(t *testing.T) {
	own := []string{"internal/notify/outbound", "internal/provider", "internal/cluster", "internal/app", "internal/store/postgres/pgtest", "client"}
	for _, s := range sources(t) {
		for _, word := range []string{"http.Transport{", "http.Client{}", "http.Get(", "http.Head(", "http.Post(", "http.PostForm(", "net.Dial", "tls.Dial"} {
			if strings.Contains(s.text, word) && !slices.Contains(own, s.dir) {
				t.Errorf("%s: %s outside of %v", s.path, word, own)
			}
		}
		for _, word := range []string{"http.DefaultTransport", "http.DefaultClient"} {
			if strings.Contains(s.text, word) && s.dir != "internal/notify/service" && s.dir != "client" {
				t.Errorf("%s uses %s: notify/service puts its guard into http.DefaultTransport", s.path, word)
			}
		}
	}
}

// TestClock keeps the machine's clock where the process begins (to inject it) and where
// a deadline of a connection is set or a duration is measured.
func TestClock(t *testing.T) {
	read := []string{
		"client", "cmd/rimewatch", "e2e/faults", "internal/app", "internal/cluster", "internal/httpapi", "internal/httpapi/shortpath", "internal/httpapi/submit",
		"internal/ingest", "internal/demo", "internal/mqtt", "internal/notify", "internal/notify/outbound", "internal/realtime", "internal/store/postgres",
		"internal/store/postgres/pgtest", "internal/store/sqlite",
	}
	reads := make(map[string]bool)
	for _, s := range sources(t) {
		if !strings.Contains(s.text, "time.Now") && !strings.Contains(s.text, "time.Since(") && !strings.Contains(s.text, "time.Until(") {
			continue
		}
		if reads[s.dir] = true; !slices.Contains(read, s.dir) {
			t.Errorf("%s reads the clock of the machine", s.path)
		}
	}
	for _, dir := range read {
		if !reads[dir] {
			t.Errorf("%s may read the clock of the machine and does not", dir)
		}
	}
}

func TestReservedImports(t *testing.T) {
	for _, s := range sources(t) {
		for _, i := range s.imports {
			for path, dirs := range reserved {
				if under(i, []string{path}) && !slices.Contains(dirs, s.dir) {
					t.Errorf("%s: only %v may import %s", s.path, dirs, path)
				}
			}
		}
	}
}

// TestWords keeps bags, the environment, SQL and HTTP statuses in their places.
func TestWords(t *testing.T) {
	bags := []string{"util", "utils", "common", "helpers", "types", "models", "misc"}
	for _, s := range sources(t) {
		if slices.Contains(bags, filepath.Base(s.dir)) {
			t.Errorf("%s: a package called %s says nothing", s.path, filepath.Base(s.dir))
		}
		if (strings.Contains(s.text, "os.Getenv") || strings.Contains(s.text, "os.LookupEnv")) && s.dir != "internal/trial" {
			t.Errorf("%s reads the environment; only the command line does, through its flags", s.path)
		}
		if strings.Contains(s.text, "http.Status") && !under(s.dir, []string{"internal/httpapi", "internal/cluster", "internal/notify/outbound", "internal/provider", "internal/demo", "client"}) {
			t.Errorf("%s speaks of HTTP statuses; only those that speak HTTP do", s.path)
		}
		if strings.Contains(s.text, "func init()") {
			t.Errorf("%s has an init", s.path)
		}
	}
}
