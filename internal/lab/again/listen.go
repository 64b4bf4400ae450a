package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// attempt is one run of go test.
type attempt struct {
	Flags  []string
	Failed []failure
	why    string // it was no luck, "" = it may have been
}

// failure is a test that failed, or a package outside of its tests.
type failure struct{ Package, Test, Text string }

// event is one of go test -json (go doc test2json).
type event struct{ Action, Package, Test, Output string }

// listener makes of events what people read.
type listener struct {
	w io.Writer
	attempt
	texts map[string]map[string]*strings.Builder // by package and test, while it runs
	grave map[string]string                      // what a package said that is no luck
}

// listen reads the events of go test, and prints what failed, and a line for each package.
func listen(r io.Reader, w io.Writer) (attempt, error) {
	l := listener{w: w, texts: map[string]map[string]*strings.Builder{}, grave: map[string]string{}}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		var e event
		switch {
		case len(line) == 0:
		case json.Unmarshal(line, &e) != nil:
			_, _ = w.Write(line)
		default:
			l.hear(&e)
		}
		if errors.Is(err, io.EOF) {
			return l.attempt, nil
		}
		if err != nil {
			return l.attempt, fmt.Errorf("read go test: %w", err)
		}
	}
}

func (l *listener) hear(e *event) {
	switch e.Action {
	case "build-output":
		l.print(e.Output)
	case "output":
		l.output(e)
	case "pass", "skip":
		if delete(l.texts[e.Package], e.Test); e.Test == "" {
			delete(l.texts, e.Package)
		}
	case "fail":
		if e.Test != "" {
			l.failed(e.Package, e.Test)
		} else {
			l.failedPackage(e.Package)
		}
	}
}

func (l *listener) output(e *event) {
	if e.Test == "" {
		for _, last := range []string{"ok  \t", "FAIL\t"} {
			if strings.HasPrefix(e.Output, last) {
				l.print(e.Output)
				return
			}
		}
	}
	for _, what := range []string{"WARNING: DATA RACE", "panic: ", "fatal error: "} {
		if strings.HasPrefix(e.Output, what) {
			l.grave[e.Package] = what
		}
	}
	if strings.HasPrefix(e.Output, "=== ") {
		return
	}
	if l.texts[e.Package] == nil {
		l.texts[e.Package] = map[string]*strings.Builder{}
	}
	if l.texts[e.Package][e.Test] == nil {
		l.texts[e.Package][e.Test] = new(strings.Builder)
	}
	l.texts[e.Package][e.Test].WriteString(e.Output)
}

// failed takes note of a test, or of the test that a part belongs to.
func (l *listener) failed(in, test string) {
	text := ""
	if b := l.texts[in][test]; b != nil {
		text = b.String()
	}
	l.print(text)
	delete(l.texts[in], test)
	test, _, _ = strings.Cut(test, "/")
	for i := range l.Failed {
		if f := &l.Failed[i]; f.Package == in && f.Test == test {
			f.Text += text
			return
		}
	}
	l.Failed = append(l.Failed, failure{in, test, text})
}

// failedPackage is reported after the tests of a package.
func (l *listener) failedPackage(name string) {
	outside := true
	for _, f := range l.Failed {
		outside = outside && f.Package != name
	}
	grave := strings.TrimSuffix(l.grave[name], ": ")
	if outside || grave != "" {
		for _, text := range l.texts[name] { // also of tests that have not ended
			l.print(text.String())
		}
	}
	delete(l.texts, name)
	if outside {
		l.Failed = append(l.Failed, failure{Package: name})
		l.why = name + " failed outside of its tests"
	}
	if grave != "" {
		l.why = name + ": " + grave
	}
}

func (l *listener) print(text string) { _, _ = io.WriteString(l.w, text) }
