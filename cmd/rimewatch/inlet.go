package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/inlet"
)

type inletCmd struct {
	Test inletTestCmd `cmd:"" help:"Show how a gateway's payload is read. The payload comes from standard input."`
	List inletListCmd `cmd:"" help:"List the built-in templates, or print one."`
}

type inletTestCmd struct {
	Template  string `short:"t" default:"auto" placeholder:"NAME|FILE" help:"Built-in template, or a file with one."`
	Topic     string `placeholder:"TOPIC" help:"MQTT topic of the payload."`
	Query     string `placeholder:"QUERY" help:"URL parameters of the payload, such as event=up."`
	Lines     bool   `help:"The payload is Influx line protocol."`
	Precision string `default:"ns" enum:"s,ms,us,ns" placeholder:"P" help:"Unit of timestamps in line protocol: s, ms, us or ns."`
}

// Run prints the readings with where each of their fields came from.
func (c *inletTestCmd) Run(s streams) error {
	body, err := io.ReadAll(io.LimitReader(s.in, inlet.MaxPayload+1))
	if err != nil {
		return fmt.Errorf("payload: %w", err)
	}
	r, err := c.decode(body)
	if err != nil {
		return err
	}
	if r.Problem != "" {
		return errors.New(r.Problem)
	}
	return printJSON(s.out, r.JSON(func(english string) string { return english }))
}

func (c *inletTestCmd) decode(body []byte) (*inlet.Result, error) {
	if c.Lines {
		r := &inlet.Result{Template: "line protocol"}
		nobody := func(string, string) []*inlet.Binding { return nil }
		n, err := new(inlet.LineReader).Read(body, c.Precision, nobody, func(items []inlet.Item, _ []byte) { r.Items = append(r.Items, items...) })
		if n.Problem != "" {
			r.Problem = n.Problem
		}
		return r, err
	}
	query, err := url.ParseQuery(c.Query)
	if err != nil {
		return nil, fmt.Errorf("--query: %w", err)
	}
	p := &inlet.Payload{Body: body, Topic: c.Topic, Query: map[string]string{}, Explain: true}
	for k := range query {
		p.Query[k] = query.Get(k)
	}
	lib, err := inlet.NewLibrary()
	if err != nil {
		return nil, err
	}
	if c.Template == rimewatch.TemplateAuto {
		return lib.Decode(p, nil), nil
	}
	m, ok := lib.Find(c.Template)
	if !ok {
		document, err := os.ReadFile(c.Template)
		if err != nil {
			return nil, fmt.Errorf("no built-in template of that name, and no such file: %w", err)
		}
		if m, err = inlet.ParseTemplate(document); err != nil {
			return nil, explained(err)
		}
	}
	return m.Decode(p, nil), nil
}

// explained adds the complaints about fields to an error.
func explained(err error) error {
	var e *rimewatch.Error
	if errors.As(err, &e) {
		for field, problems := range e.Fields {
			return fmt.Errorf("%s %s", field, problems[0])
		}
	}
	return err
}

type inletListCmd struct {
	Name string `arg:"" optional:"" help:"Template to print, as a starting point for your own."`
}

// Run prints names and titles, or a template.
func (c *inletListCmd) Run(s streams) error {
	lib, err := inlet.NewLibrary()
	if err != nil {
		return err
	}
	for _, t := range lib.Templates() {
		switch c.Name {
		case "":
			fmt.Fprintf(s.out, "%-18s %s\n", t.Name, t.Title)
		case t.Name:
			return printJSON(s.out, t)
		}
	}
	if c.Name != "" {
		return usagef("there is no template %q", c.Name)
	}
	return nil
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
