package apply

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Step is one change that a Plan makes.
type Step struct {
	Action  string // create, update or delete
	Kind    string // site, channel, …
	Name    string
	Changes []string // of an update: "timezone Europe/Dublin → Europe/Paris"

	thing Thing
	id    string // in paths, of what is there
	of    *kind
}

// String is the step in a line: "+ site Dublin".
func (s *Step) String() string {
	sign := map[string]string{"create": "+", "update": "~", "delete": "-"}[s.Action]
	line := fmt.Sprintf("%s %s %s", sign, s.Kind, s.Name)
	if len(s.Changes) > 0 {
		line += ": " + strings.Join(s.Changes, ", ")
	}
	return line
}

// there are a server's things of a kind.
type there struct {
	list   []map[string]any
	byName map[string]map[string]any // lower case
}

func number(v any) string { return strings.Trim(fmt.Sprint(v), `"`) }

// plan compares the things of a kind with those of the server, whose members are named as the file names them.
func plan(k *kind, want []Thing, has there, prune bool) (steps []Step, extra []string) {
	in := make(map[string]bool, len(want))
	for _, t := range want {
		name := k.name(t)
		in[strings.ToLower(name)] = true
		now, ok := has.byName[strings.ToLower(name)]
		if !ok {
			steps = append(steps, Step{Action: "create", Kind: k.one, Name: name, thing: t, of: k})
			continue
		}
		changed, changes := difference(t, now)
		if len(changed) > 0 {
			steps = append(steps, Step{Action: "update", Kind: k.one, Name: name, Changes: changes, thing: changed, id: number(now["id"]), of: k})
		}
	}
	for _, now := range has.list {
		name := k.name(now)
		switch {
		case in[strings.ToLower(name)]:
		case prune:
			steps = append(steps, Step{Action: "delete", Kind: k.one, Name: name, id: number(now["id"]), of: k})
		default:
			extra = append(extra, k.one+" "+name)
		}
	}
	return steps, extra
}

// difference returns the members of a thing that are otherwise on the server, in what they differ.
func difference(want, has map[string]any) (changed Thing, changes []string) {
	changed = Thing{}
	for _, member := range slices.Sorted(maps.Keys(want)) {
		now, shown := has[member]
		if _, is := want[member].(given); is && !shown {
			continue // a secret that no answer holds
		}
		if same(want[member], now) {
			continue
		}
		changed[member] = want[member]
		changes = append(changes, fmt.Sprintf("%s %s → %s", member, short(now), short(want[member])))
	}
	return changed, changes
}

// same reports whether a value of the file is that of the server: of an object the members that the file names.
func same(want, has any) bool {
	switch w := want.(type) {
	case nil:
		return has == nil || reflect.ValueOf(has).IsZero()
	case given:
		return masked(string(w), has)
	case string:
		return masked(w, has) || sameMoment(w, has)
	case map[string]any:
		h, _ := has.(map[string]any)
		for k, v := range w {
			if _, is := v.(given); is && h[k] == nil {
				continue
			}
			if !same(v, h[k]) {
				return false
			}
		}
		return true
	case []any:
		h, _ := has.([]any)
		return slices.EqualFunc(w, h, same)
	default:
		if has == nil {
			return reflect.ValueOf(want).IsZero()
		}
		return plain(want) == plain(has)
	}
}

// sameMoment reports whether two texts are one time.
func sameMoment(want string, has any) bool {
	text, _ := has.(string)
	x, err := time.Parse(time.RFC3339, want)
	y, bad := time.Parse(time.RFC3339, text)
	return err == nil && bad == nil && x.Equal(y)
}

// mask stands in answers for the rest of an address that is a secret.
const mask = "•••"

// masked reports whether a text is the server's, of which it may show the beginning alone.
func masked(want string, has any) bool {
	text, _ := has.(string)
	if shown, ok := strings.CutSuffix(text, mask); ok {
		return strings.HasPrefix(want, shown)
	}
	return want == text
}

// plain is a value as JSON writes it, so that 4 and 4.0 are one.
func plain(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// short is a value for people. What the environment holds is not shown.
func short(v any) string {
	if _, is := v.(given); is {
		return "…"
	}
	const most = 60
	text := cmp.Or(strings.Trim(plain(v), `"`), "none")
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
