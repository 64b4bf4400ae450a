package apply

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Version is the version of the files that this package reads.
const Version = 1

// File is the wanted state of a workspace.
type File struct {
	Rimewatch int            `yaml:"rimewatch"` // Version
	Workspace map[string]any `yaml:"workspace,omitempty"`
	Sites     []Thing        `yaml:"sites,omitempty"`
	Contacts  []Thing        `yaml:"contacts,omitempty"`
	Rotas     []Thing        `yaml:"rotas,omitempty"`
	Channels  []Thing        `yaml:"channels,omitempty"`
	Routes    []Thing        `yaml:"routes,omitempty"`
	Sources   []Thing        `yaml:"sources,omitempty"`
	Devices   []Thing        `yaml:"devices,omitempty"`
}

// Thing is a resource by the members of the API's body. Others are named by what they are
// called: site, sites, channels, fallback_channel, owner, member, instead_of; what a step tells
// beside channels is {rota: NAME}, {member: ADDRESS} or {contact: SITE / NAME}.
type Thing = map[string]any

// name returns the key of a thing in a file: its name, of a contact with its site's, of a device
// its serial.
func (k *kind) name(t Thing) string {
	parts := make([]string, 0, len(k.by))
	for _, member := range k.by {
		text, _ := t[member].(string)
		parts = append(parts, strings.TrimSpace(text))
	}
	return strings.Join(parts, " / ")
}

// kind is a kind of resource.
type kind struct {
	section, path, one string
	by                 []string
	things             func(*File) *[]Thing
}

// kinds are in the order in which one may name another.
var kinds = []kind{
	{"sites", "/sites", "site", []string{"name"}, func(f *File) *[]Thing { return &f.Sites }},
	{"contacts", "/contacts", "contact", []string{"site", "name"}, func(f *File) *[]Thing { return &f.Contacts }},
	{"rotas", "/rotas", "rota", []string{"name"}, func(f *File) *[]Thing { return &f.Rotas }},
	{"channels", "/channels", "channel", []string{"name"}, func(f *File) *[]Thing { return &f.Channels }},
	{"routes", "/routes", "route", []string{"name"}, func(f *File) *[]Thing { return &f.Routes }},
	{"sources", "/sources", "source", []string{"name"}, func(f *File) *[]Thing { return &f.Sources }},
}

// members are named by their addresses; a file makes none.
var members = kind{section: "members", path: "/members", one: "member", by: []string{"email"}}

var devices = kind{"devices", "/devices", "device", []string{"serial"}, func(f *File) *[]Thing { return &f.Devices }}

// reference is a member that names other things, and the API's member for their numbers.
type reference struct {
	member, id, section string
	list                bool
}

var references = []reference{
	{"site", "site_id", "sites", false}, {"sites", "site_ids", "sites", true},
	{"channels", "channel_ids", "channels", true}, {"fallback_channel", "fallback_channel_id", "channels", false},
	{"owner", "owner_id", "members", false}, {"member", "member_id", "members", false}, {"instead_of", "instead_of", "members", false},
}

// secrets are members that may not stand in a file.
var secrets = []string{"secret", "password"}

var variable = regexp.MustCompile(`^\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?$`)

// Read reads a file. $NAME and ${NAME} as a whole value are that variable of the environment.
func Read(document []byte, environment func(name string) (string, bool)) (*File, error) {
	f := &File{}
	d := yaml.NewDecoder(bytes.NewReader(document))
	d.KnownFields(true)
	if err := d.Decode(f); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("it is empty")
		}
		return nil, fmt.Errorf("the file is not understood: %w", err)
	}
	if f.Rimewatch != Version {
		return nil, fmt.Errorf("the file must begin with rimewatch: %d", Version)
	}
	for i := range kinds {
		if err := f.check(&kinds[i]); err != nil {
			return nil, err
		}
	}
	if err := f.check(&devices); err != nil {
		return nil, err
	}
	for _, c := range f.Channels { // the address of a service is its credential
		if url, _ := c["url"].(string); url != "" && c["kind"] != "webhook" && !variable.MatchString(url) {
			return nil, inClear("url")
		}
	}
	for _, section := range append(f.sections(), f.Workspace) {
		if err := fill(section, environment); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *File) sections() (all []any) {
	for _, k := range append(slices.Clone(kinds), devices) {
		for _, t := range *k.things(f) {
			all = append(all, t)
		}
	}
	return all
}

// check finds things without a name and names that are there twice.
func (f *File) check(k *kind) error {
	seen := make(map[string]bool)
	for i, t := range *k.things(f) {
		name := k.name(t)
		if strings.Trim(name, " /") == "" {
			return fmt.Errorf("%s: number %d has no %s", k.section, i+1, k.by[len(k.by)-1])
		}
		if key := strings.ToLower(name); seen[key] {
			return fmt.Errorf("%s: %q is there twice", k.section, name)
		} else {
			seen[key] = true
		}
	}
	return nil
}

// fill puts variables of the environment in, and refuses secrets that stand in the file.
func fill(v any, environment func(string) (string, bool)) error {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if at, is := v[k].(time.Time); is { // as YAML reads a time without quotes
				v[k] = at.Format(time.RFC3339)
			}
			text, is := v[k].(string)
			if name := variable.FindStringSubmatch(text); is && name != nil {
				value, ok := environment(name[1])
				if !ok {
					return fmt.Errorf("the variable %s is not set, which %s asks for", name[1], k)
				}
				v[k] = given(value)
				continue
			}
			if is && text != "" && slices.Contains(secrets, k) {
				return inClear(k)
			}
			if err := fill(v[k], environment); err != nil {
				return err
			}
		}
	case []any:
		for _, x := range v {
			if err := fill(x, environment); err != nil {
				return err
			}
		}
	}
	return nil
}

func inClear(member string) error {
	return fmt.Errorf("%s stands in the file: write $NAME, and set that variable where apply is run", member)
}

// given is a value of the environment. What the server does not show is not compared.
type given string
