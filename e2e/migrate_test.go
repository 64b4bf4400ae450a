package e2e

import (
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch/internal/store/postgres/pgtest"
	"github.com/rimewatch/rimewatch/internal/trial"
)

// TestMigrate moves the demo's store into PostgreSQL and back, with a kill -9 now
// and then, and asks every server the same.
func TestMigrate(t *testing.T) {
	trial.NeedsLong(t)
	database, err := pgtest.Start("full_page_writes=off")
	if err != nil {
		t.Fatal(err)
	}
	defer database.Stop()
	bin, dir, store := program(t), t.TempDir(), database.URL("postgres")
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	p, _, token, err := launch(dir, bin, os.Environ(), []string{"demo", "--listen", "127.0.0.1:0", "--data", first, "--every", "1m"})
	if err != nil {
		t.Fatal(err)
	}
	refused(t, bin, "another server uses the data directory", "migrate", "--data", first, "--store", store)
	if err := p.terminate(os.Interrupt); err != nil {
		t.Fatal(err)
	}

	end := time.Now().Add(-time.Hour).UTC().Truncate(time.Hour)
	paths := []string{"/api/v1/sites"}
	for _, form := range []string{"per_page=50", "step=1h"} {
		paths = append(paths, "/api/v1/devices/WIF-0001/readings?"+form+"&from="+end.AddDate(0, 0, -1).Format(time.RFC3339)+"&to="+end.Format(time.RFC3339))
	}
	ask := func(flags ...string) string { return ask(t, bin, dir, token, paths, flags...) }

	want := ask("--data", first)
	survive(t, bin, "migrate", "--data", first, "--store", store)
	check := []string{"migrate", "--check", "--data", first, "--store", store}
	if out, err := exec.Command(bin, check...).CombinedOutput(); err != nil || !strings.Contains(string(out), "hold the same") {
		t.Fatalf("%v\n%s", err, out)
	}
	change := func() { // a bit of one reading, or back
		t.Helper()
		if err := database.Exec("postgres", "UPDATE reading_chunk SET data = set_byte(data, length(data)/2, get_byte(data, length(data)/2) # 1) WHERE id = (SELECT max(id) FROM reading_chunk)"); err != nil {
			t.Fatal(err)
		}
	}
	change()
	refused(t, bin, "reading_chunk has", check...)
	change()
	refused(t, bin, "holds a store already", "migrate", "--data", first, "--store", store)
	same(t, "from the database", ask("--data", first, "--store", store), want)

	refused(t, bin, "there is a store in", "migrate", "--back", "--data", first, "--store", store)
	survive(t, bin, "migrate", "--back", "--data", second, "--store", store)
	check[3] = second
	if out, err := exec.Command(bin, check...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	same(t, "after the way back", ask("--data", second), want)
	// A server has written to the file since.
	refused(t, bin, "the stores differ", check...)
}

// survive kills a command twice, somewhere, and then lets it end. A kill may come
// after the copy has become a store: then the next run refuses to copy again, and
// the comparison that follows is what counts.
func survive(t *testing.T, bin string, args ...string) {
	t.Helper()
	for range 2 {
		cmd := exec.Command(bin, args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(time.Duration(100+rand.IntN(900))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		kill.Stop()
		if err == nil {
			return // it was quicker
		}
	}
	out, err := exec.Command(bin, args...).CombinedOutput()
	whole := err != nil && strings.Contains(string(out), ": compare it with --check")
	if !whole && (err != nil || !strings.Contains(string(out), "hold the same")) {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
}

// refused runs a command that must fail with a line.
func refused(t *testing.T, bin, line string, args ...string) {
	t.Helper()
	out, err := exec.Command(bin, args...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), line) {
		t.Errorf("%q: %v\n%s", args, err, out)
	}
}

// same compares two answers.
func same(t *testing.T, what, got, want string) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Errorf("%s: …%.200s\nbefore: …%.200s", what, got[max(0, i-60):], want[max(0, i-60):])
			return
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d bytes, before: %d", what, len(got), len(want))
	}
}

// ask starts a server and returns its answers.
func ask(t *testing.T, bin, dir, token string, paths []string, flags ...string) string {
	t.Helper()
	p, url, _, err := launch(dir, bin, os.Environ(), append([]string{"serve", "--listen", "127.0.0.1:0"}, flags...))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.terminate(os.Interrupt); err != nil {
			t.Error(err)
		}
	}()
	var all strings.Builder
	for _, path := range paths {
		req, err := http.NewRequest(http.MethodGet, url+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err := resp.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v, %v\n%s", path, resp.Status, err, body)
		}
		all.WriteString(path + "\n" + string(body) + "\n")
	}
	return received.ReplaceAllString(all.String(), "")
}

// received is what is rounded to seconds when a reading goes from the log into a
// chunk, at any time.
var received = regexp.MustCompile(`"received_at":"[^"]*",`)
