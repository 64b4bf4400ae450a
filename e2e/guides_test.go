package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch/internal/trial"
)

// guide is a page of docs/guides that is followed.
type guide struct {
	*inletsHouse
	t      *testing.T
	cookie string
	page   string
	text   string
	source int64
	key    string
	now    time.Time
}

// guides are how each page is followed: send does what the page says, with what the
// page says, as the product or the person would.
var guides = map[string]func(g *guide){
	"README.md":           (*guide).anyJSON,
	"chirpstack.md":       (*guide).webhook,
	"the-things-stack.md": (*guide).webhook,
	"esp32-ds18b20.md":    (*guide).sketch,
	"home-assistant.md":   (*guide).homeAssistant,
	"logger-files.md":     (*guide).loggerFile,
	"shelly.md":           (*guide).shelly,
	"telegraf.md":         (*guide).telegraf,
	"zigbee2mqtt.md":      (*guide).zigbee,
}

// TestGuides follows each guide with the real program: the sender waits, is
// accepted, and its first reading is what the page says.
func TestGuides(t *testing.T) {
	trial.NeedsAll(t)
	h := bareInletsHouse(t)
	p := h.start(t)
	defer p.kill()
	cookie := h.signIn(t, inletsPassword)
	pages, err := filepath.Glob("../docs/guides/*.md")
	if err != nil || len(pages) != len(guides) {
		t.Fatalf("%d guides, of which %d can be followed: %v", len(pages), len(guides), err)
	}
	help, err := exec.Command(h.bin, "serve", "--help").CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := os.ReadFile("../web/src/pages/connect/kinds.ts")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		t.Run(filepath.Base(page), func(t *testing.T) {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			g := &guide{inletsHouse: h, t: t, cookie: cookie, page: filepath.Base(page), text: string(text), now: time.Now().UTC().Add(-time.Minute)}
			for _, flag := range regexp.MustCompile("`--[a-z-]+").FindAllString(g.text, -1) {
				if !strings.Contains(string(help), flag[1:]) {
					t.Errorf("serve does not know %s", flag[1:])
				}
			}
			for _, m := range regexp.MustCompile(`\*Connect a device → ([^*]+)\*`).FindAllStringSubmatch(g.text, -1) {
				if !strings.Contains(string(kinds), "'"+m[1]+"'") {
					t.Errorf("there is no %q under Connect a device", m[1])
				}
			}
			var made struct {
				Source struct{ ID int64 }
				Key    string
			}
			h.asOwner(t, cookie, http.MethodPost, "/sources", fmt.Sprintf(`{"name":%q}`, page), http.StatusCreated, &made)
			g.source, g.key = made.Source.ID, made.Key
			guides[g.page](g)
		})
	}
}

// A payload in a guide stands in a block behind a comment that says how it is sent
// and what it becomes.
var guidePayload = regexp.MustCompile("(?s)<!-- payload: (\\w+) ?([^;]*); (.*?) -->\n```\\w+\n(.*?)\n```")

// sent is a payload of a page.
type sent struct{ where, body, want string }

// payloads returns those of the page that are sent so.
func (g *guide) payloads(how string) (list []sent) {
	g.t.Helper()
	moments := strings.NewReplacer("NOW", g.now.Format(time.RFC3339Nano), "EPOCH", fmt.Sprint(g.now.Unix()), "NANOS", fmt.Sprint(g.now.UnixNano()))
	for _, m := range guidePayload.FindAllStringSubmatch(g.text, -1) {
		if m[1] == how {
			list = append(list, sent{m[2], moments.Replace(m[4]), m[3]})
		}
	}
	if len(list) == 0 {
		g.t.Fatalf("the page has no payload by %s", how)
	}
	return list
}

// block returns the page's first block of a language, with the server and the key of this
// test in the place of those in the page.
func (g *guide) block(language string) string {
	g.t.Helper()
	m := regexp.MustCompile("(?s)\n```" + language + "\n(.*?)```").FindStringSubmatch(g.text)
	if m == nil {
		g.t.Fatalf("the page has no block of %s", language)
	}
	return strings.ReplaceAll(m[1], "in_…", g.key)
}

// setting returns a value of a configuration in TOML, YAML or C.
func (g *guide) setting(text, name string) string {
	g.t.Helper()
	m := regexp.MustCompile(`(?m)\b` + name + `\s*[:=]\s*\[?"?([^"#\]\n]*[^"#\]\s])`).FindStringSubmatch(text)
	if m == nil {
		g.t.Fatalf("no %s in\n%s", name, text)
	}
	return m[1]
}

// ours puts the server of this test in the place of the one in the page.
func (g *guide) ours(address string) string {
	u, err := url.Parse(g.url)
	if err != nil {
		g.t.Fatal(err)
	}
	return strings.NewReplacer("192.168.1.10:8080", u.Host, "SERVER:8080", u.Host).Replace(address)
}

func (g *guide) request(method, address, body string, want int, header ...string) string {
	g.t.Helper()
	req, err := http.NewRequestWithContext(g.t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != want {
		g.t.Fatalf("%s %s: %s %s %v", method, address, resp.Status, b, err)
	}
	return string(b)
}

// mosquittoPub publishes as a person with mosquitto_pub does, and returns when the
// server has acknowledged it.
func (g *guide) mosquittoPub(addr, topic, payload string, args ...string) {
	g.t.Helper()
	host, port, _ := net.SplitHostPort(addr)
	c := exec.CommandContext(g.t.Context(), "mosquitto_pub", append([]string{"-h", host, "-p", port, "-q", "1", "-t", topic, "-m", payload}, args...)...)
	if out, err := c.CombinedOutput(); err != nil {
		g.t.Fatalf("mosquitto_pub: %v: %s", err, out)
	}
}

// accept waits for the sender of a payload, accepts it as it is, and holds its device
// against what the page says.
func (g *guide) accept(want string) {
	g.t.Helper()
	pairs := strings.Split(want, "; ")
	_, external, _ := strings.Cut(pairs[0], "=")
	var serial string
	within(g.t, func() error {
		var held struct {
			Senders []struct {
				External  string `json:"external_id"`
				Suggested string `json:"suggested_serial"`
			}
		}
		g.asOwner(g.t, g.cookie, http.MethodGet, fmt.Sprintf("/sources/%d/held", g.source), "", http.StatusOK, &held)
		for _, s := range held.Senders {
			if s.External == external {
				serial = s.Suggested
				return nil
			}
		}
		return fmt.Errorf("%s does not wait: %v", external, held.Senders)
	})
	bind, _ := json.Marshal(map[string]any{"bindings": []map[string]string{{"external_id": external}}})
	g.asOwner(g.t, g.cookie, http.MethodPost, fmt.Sprintf("/sources/%d/bind", g.source), string(bind), http.StatusOK, nil)
	within(g.t, func() error {
		var got struct{ Device map[string]any }
		g.asOwner(g.t, g.cookie, http.MethodGet, "/devices/"+serial, "", http.StatusOK, &got)
		reading, _ := got.Device["latest_reading"].(map[string]any)
		for _, pair := range pairs[1:] {
			name, value, _ := strings.Cut(pair, "=")
			v := reading[name]
			if v == nil {
				v = got.Device[name]
			}
			if fmt.Sprint(v) != value {
				return fmt.Errorf("%s is %v, want %s", name, v, value)
			}
		}
		return nil
	})
}

func (g *guide) webhook() {
	for _, p := range g.payloads("webhook") {
		g.request(http.MethodPost, g.url+"/in/"+g.key+p.where, p.body, http.StatusOK, "Content-Type", "application/json")
		g.accept(p.want)
	}
}

// anyJSON follows also the command that tries a payload.
func (g *guide) anyJSON() {
	g.webhook()
	m := regexp.MustCompile("`rimewatch (inlet test [^`<]*) < payload.json`").FindStringSubmatch(g.text)
	if m == nil {
		g.t.Fatal("the page names no command")
	}
	c := exec.CommandContext(g.t.Context(), g.bin, strings.Fields(m[1])...)
	c.Stdin = strings.NewReader(g.payloads("webhook")[0].body)
	if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "3.5") {
		g.t.Errorf("%v: %s", err, out)
	}
}

// shelly opens the URL of the page, with what a Shelly puts in, and publishes.
func (g *guide) shelly() {
	m := regexp.MustCompile("`(http://SERVER:8080/in/KEY[^`]*)`").FindStringSubmatch(g.text)
	if m == nil {
		g.t.Fatal("the page has no URL")
	}
	for _, p := range g.payloads("get") {
		values, err := url.ParseQuery(p.where)
		if err != nil {
			g.t.Fatal(err)
		}
		address := strings.NewReplacer("/KEY", "/"+g.key, "${ev.tC}", values.Get("temp")).Replace(g.ours(m[1])) + "&hum=" + values.Get("hum")
		g.request(http.MethodGet, address, "", http.StatusOK)
		g.accept(p.want)
	}
	for _, p := range g.payloads("mqtt") {
		g.mosquittoPub(g.mqtt, p.where, p.body, "-u", "shelly", "-P", g.key)
		g.accept(p.want)
	}
}

// loggerFile looks at a file and adds it, by the request of the page.
func (g *guide) loggerFile() {
	m := regexp.MustCompile(`\$URL(/api/v1/devices/WIF-0001/readings/import\?)dry_run=true&([^"]*)"`).FindStringSubmatch(g.text)
	if m == nil {
		g.t.Fatal("the page has no request")
	}
	auth := []string{"Authorization", "Bearer " + g.token}
	g.request(http.MethodPost, g.url+"/api/v1/devices", `{"serial":"WIF-0001"}`, http.StatusCreated, append(auth, "Content-Type", "application/json")...)
	file := "Time,Temperature (°C)\n" + g.now.Add(-48*time.Hour).Format("2006-01-02 15:04") + ",-18.5\n"
	form := append(auth, "Content-Type", "application/x-www-form-urlencoded") // as curl has it
	if looked := g.request(http.MethodPost, g.url+m[1]+"dry_run=true&"+m[2], file, http.StatusOK, form...); !strings.Contains(looked, `"accepted":1`) {
		g.t.Error(looked)
	}
	g.request(http.MethodPost, g.url+m[1]+m[2], file, http.StatusOK, form...)
	from := g.now.Add(-96 * time.Hour).Format(time.RFC3339)
	if stored := g.request(http.MethodGet, g.url+"/api/v1/devices/WIF-0001/readings?from="+from, "", http.StatusOK, auth...); strings.Count(stored, "-18.5") != 1 {
		g.t.Error(stored)
	}
}

// homeAssistant writes as the influxdb integration does with the page's settings.
func (g *guide) homeAssistant() {
	yaml := g.block("yaml")
	if g.setting(yaml, "api_version") != "2" || g.setting(yaml, "ssl") != "false" {
		g.t.Fatal(yaml)
	}
	to := g.ours("http://" + g.setting(yaml, "host") + ":" + g.setting(yaml, "port"))
	g.influx(to, g.setting(yaml, "token"), g.setting(yaml, "organization"), g.setting(yaml, "bucket"))
}

// telegraf writes as outputs.influxdb_v2 does with the page's settings. What the page
// lets it read has the names that it sends.
func (g *guide) telegraf() {
	toml := g.block("toml")
	_, output, ok := strings.Cut(toml, "[[outputs.influxdb_v2]]")
	if !ok {
		g.t.Fatal("the page has no output")
	}
	body := g.payloads("lines")[0].body
	for _, m := range regexp.MustCompile(`name = "([a-z_]+)", +type`).FindAllStringSubmatch(toml, -1) {
		if !strings.Contains(body, m[1]+"=") {
			g.t.Errorf("%s is read and not in what is sent", m[1])
		}
	}
	g.influx(g.ours(g.setting(output, "urls")), g.setting(output, "token"), g.setting(output, "organization"), g.setting(output, "bucket"))
}

func (g *guide) influx(to, token, org, bucket string) {
	g.t.Helper()
	for _, p := range g.payloads("lines") {
		address := to + "/api/v2/write?" + url.Values{"org": {org}, "bucket": {bucket}, "precision": {"ns"}}.Encode()
		g.request(http.MethodPost, address, p.body+"\n", http.StatusNoContent, "Authorization", "Token "+token, "Content-Type", "text/plain; charset=utf-8")
		g.accept(p.want)
	}
}

// zigbee reads a broker that is set up by the page.
func (g *guide) zigbee() {
	broker := mosquitto(g.t, strings.Split(strings.TrimSpace(g.block("text")), "\n")...)
	var made struct{ Source struct{ ID int64 } }
	body := fmt.Sprintf(`{"kind":"mqtt","name":"Zigbee2MQTT","template":"zigbee2mqtt","broker":{"url":"mqtt://%s","topics":["zigbee2mqtt/#"]}}`, broker)
	g.asOwner(g.t, g.cookie, http.MethodPost, "/sources", body, http.StatusCreated, &made)
	g.source = made.Source.ID
	within(g.t, func() error {
		var got struct {
			Source struct {
				Broker struct{ Status, Problem string }
			}
		}
		g.asOwner(g.t, g.cookie, http.MethodGet, fmt.Sprintf("/sources/%d", g.source), "", http.StatusOK, &got)
		if got.Source.Broker.Status != "connected" {
			return fmt.Errorf("%+v", got.Source.Broker)
		}
		return nil
	})
	for _, p := range g.payloads("mqtt") {
		g.mosquittoPub(broker, p.where, p.body)
		g.accept(p.want)
	}
}

// sketch compiles the sketch against what stands for an ESP32, and publishes what it
// publishes.
func (g *guide) sketch() {
	compiler, err := exec.LookPath("c++")
	if err != nil {
		g.t.Skip("this test needs a C++ compiler")
	}
	text := strings.ReplaceAll(g.block("cpp"), "192.168.1.10", "server.test")
	dir := g.t.TempDir()
	file, program := filepath.Join(dir, "sketch.cpp"), filepath.Join(dir, "sketch")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		g.t.Fatal(err)
	}
	board := "testdata/arduino"
	if out, err := exec.Command(compiler, "-std=c++17", "-Wall", "-Werror", "-I", board, "-include", "Arduino.h", "-o", program, file, board+"/main.cpp").CombinedOutput(); err != nil {
		g.t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(program).Output()
	if err != nil {
		g.t.Fatal(err)
	}
	var said [][]string
	for line := range strings.Lines(string(out)) {
		said = append(said, strings.Split(strings.TrimSpace(line), "\t"))
	}
	// The connection breaks at the first message, which is sent again after the next connection.
	var verbs []string
	for _, s := range said {
		verbs = append(verbs, s[0])
	}
	if !slices.Equal(verbs, []string{"broker", "connect", "lost", "broker", "connect", "publish"}) || !slices.Equal(said[0], []string{"broker", "server.test", "1883"}) ||
		said[5][2] != "0" || said[5][3] != "1" || said[5][4] != said[2][1] {
		g.t.Fatalf("the sketch: %s", out)
	}
	p := g.payloads("mqtt")[0]
	topic, payload := said[5][1], said[5][4]
	members := func(text string) (names []string) {
		var v map[string]any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			g.t.Fatalf("%v: %s", err, text)
		}
		for k := range v {
			names = append(names, k)
		}
		slices.Sort(names)
		return names
	}
	if topic != p.where || !slices.Equal(members(payload), members(p.body)) {
		g.t.Errorf("the sketch sends %s to %s, the page says %s to %s", payload, topic, p.body, p.where)
	}
	g.mosquittoPub(g.mqtt, topic, payload, "-i", said[1][1], "-u", said[1][2], "-P", said[1][3])
	g.accept(p.want)
}

// TestFirstReading runs the commands of the README's first reading, in a fresh
// folder.
func TestFirstReading(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("this test needs curl")
	}
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "## Send your first reading\n")
	if section, _, _ = strings.Cut(section, "\n## "); !ok {
		t.Fatal("the README has no such section")
	}
	dir, addr := t.TempDir(), freeAddress(t)
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program(t), filepath.Join(dir, "bin", "rimewatch")); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "RIMEWATCH_LISTEN="+addr)
	p, _, _, err := launch(dir, "./bin/rimewatch", env, []string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.kill()
	commands := ""
	for line := range strings.Lines(section) {
		command := strings.TrimPrefix(line, "    ")
		switch first := strings.TrimLeft(command, " "); {
		case command == line || strings.HasPrefix(first, "{") || strings.HasPrefix(first, `"`), strings.HasPrefix(command, "make "), strings.HasSuffix(command, "serve &\n"):
		default:
			commands += command
		}
	}
	if shown := regexp.MustCompile("`(curl [^`]+)`").FindStringSubmatch(section); shown != nil {
		commands += shown[1] + "\n"
	}
	c := exec.CommandContext(t.Context(), "sh", "-e", "-c", strings.ReplaceAll(commands, "127.0.0.1:8080", addr))
	c.Dir, c.Env = dir, env
	out, err := c.CombinedOutput()
	if err != nil || strings.Count(string(out), `"success":true`) != 3 || !strings.Contains(string(out), `"status":"online","current_temp":-18.4`) {
		t.Errorf("%v\n%s\nanswered\n%s", err, commands, out)
	}
}

// TestQuickStart runs the commands of the quick start for programs, as it is served.
func TestQuickStart(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("this test needs curl")
	}
	dir := t.TempDir()
	token, err := exec.CommandContext(t.Context(), program(t), "token", "create", "--data", dir, "--workspace", "Corner Shop", "--create", "--name", "erp", "--scopes", "admin").Output()
	if err != nil {
		t.Fatal(err)
	}
	p, server, _, err := launch(dir, program(t), os.Environ(), []string{"serve", "--data", dir, "--listen", freeAddress(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.kill()
	run := func(commands string) string {
		c := exec.CommandContext(t.Context(), "sh", "-e", "-c", commands)
		c.Env = append(os.Environ(), "SERVER="+server, "TOKEN="+strings.TrimSpace(string(token)))
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s\n%s", err, commands, out)
		}
		return string(out)
	}
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(run("curl -s $SERVER/docs/quick-start.md"), -1)
	for i, want := range []string{`"scopes":`, `"serial":"WIF-0001"`, `"product_zone_temp":-18.4`, `"type":"device.created"`, `"secret":"whsec_`, `"serial":"RX-1001"`, `"fault":"offline"`} {
		if i >= len(blocks) {
			t.Fatalf("the page has %d blocks", len(blocks))
		}
		if out := run(blocks[i][1]); !strings.Contains(out, `"success":true`) || !strings.Contains(out, want) {
			t.Errorf("%s\nanswered\n%s", blocks[i][1], out)
		}
	}
}
