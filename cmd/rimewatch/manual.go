package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

type manualCmd struct{}

// Run prints the manual page, rimewatch(1), in the language of man(7): all commands
// and flags, with the words of their help.
func (manualCmd) Run(s streams) error {
	w := &manual{w: s.out}
	w.printf(".TH RIMEWATCH 1 \"\" %s\n.SH NAME\nrimewatch \\- monitoring of commercial refrigeration\n", roff(versionName()))
	w.printf(".SH SYNOPSIS\n.B rimewatch\n.I command\n.RI [ flags ]\n.SH DESCRIPTION\n")
	w.text(description)
	root := newParser(s).Model.Node
	for _, g := range groups() {
		title := false
		for _, c := range root.Children {
			if c.Hidden || c.Group == nil || c.Group.Key != g.Key {
				continue
			}
			if !title {
				w.printf(".SH %s\n", strings.ToUpper(roff(strings.TrimSuffix(g.Title, ":"))))
				title = true
			}
			w.command(c)
		}
	}
	w.printf(".SH FILES\n.TP\n.I /etc/rimewatch/rimewatch.env\nSettings of the service.\n.TP\n.I /var/lib/rimewatch\nIts data.\n.SH SEE ALSO\n")
	w.text("The documentation at https://github.com/rimewatch/rimewatch, and the API at /api/docs of a running server.")
	return w.err
}

// manual writes a page for man, up to the first error.
type manual struct {
	w   io.Writer
	err error
}

func (m *manual) printf(format string, args ...any) {
	if m.err == nil {
		_, m.err = fmt.Fprintf(m.w, format, args...)
	}
}

// text writes paragraphs; indented lines keep their form.
func (m *manual) text(text string) {
	example := false
	for line := range strings.SplitSeq(text, "\n") {
		indented := strings.HasPrefix(line, "  ")
		switch {
		case indented && !example:
			m.printf(".PP\n.nf\n")
		case !indented && example:
			m.printf(".fi\n")
		}
		example = indented
		if line == "" {
			m.printf(".PP\n")
			continue
		}
		m.printf("%s\n", roff(line))
	}
	if example {
		m.printf(".fi\n")
	}
}

// command writes a command with its flags, and those below it.
func (m *manual) command(n *kong.Node) {
	if n.Hidden {
		return
	}
	m.printf(".SS %s\n", roff(n.FullPath()))
	m.text(n.Help)
	if n.Detail != "" {
		m.printf(".PP\n")
		m.text(n.Detail)
	}
	for _, f := range n.Flags {
		if f.Hidden || f.Name == "help" {
			continue
		}
		m.printf(".TP\n.B %s\n", roff("--"+f.Name))
		m.text(helpText(f.Value))
	}
	for _, c := range n.Children {
		m.command(c)
	}
}

// roff escapes a line for man: no character of it is a request.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	return line
}
