package inlet

import (
	"maps"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
)

// entity returns what the name of a value says of where a board measures it, so
// that two probes of one board are two senders: "walk_in" of
// walk_in_temperature and walk_in_humidity. It is empty for a name that only says
// what is measured.
func entity(params ...any) (any, error) {
	if len(params) != 1 {
		return nil, fail("entity takes one text")
	}
	name, _ := params[0].(string)
	if _, ok := rimewatch.FieldByName(name); ok {
		return "", nil
	}
	if _, ok := rimewatch.FlagByName(name); ok {
		return "", nil
	}
	for _, quantity := range []string{"temperature", "temp", "humidity"} {
		if name == quantity {
			return "", nil
		}
		if where, ok := strings.CutSuffix(name, "_"+quantity); ok && where != "" {
			return where, nil
		}
	}
	return name, nil
}

// samples takes an object of devices apart, of each of which there are one or several
// samples: an object of values, or one of a time ts and values. It returns lists of
// device, time and values.
func samples(params ...any) (any, error) {
	if len(params) != 1 {
		return nil, fail("samples takes one object")
	}
	object, ok := params[0].(map[string]any)
	if !ok {
		return nil, fail("is not an object")
	}
	list := []any{}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		of, ok := object[name].([]any)
		if !ok {
			of = []any{object[name]}
		}
		for _, x := range of {
			sample, _ := x.(map[string]any)
			if values, ok := sample["values"].(map[string]any); ok {
				list = append(list, []any{name, sample["ts"], values})
			} else {
				list = append(list, []any{name, nil, x})
			}
		}
	}
	return list, nil
}

// measured reports whether something is recognised in a value.
func measured(params ...any) (any, error) {
	if len(params) != 1 {
		return nil, fail("measured takes one value")
	}
	s := recognise(leaves("", params[0]), map[string]bool{})
	return len(s.sensors) > 0 || !s.board.Empty(), nil
}

// components splits an object whose members are called TYPE or TYPE:NUMBER, as
// Shelly's from the second generation on are, into what belongs to one sender each.
// It returns pairs of what is added to the sender's name and an object of members
// without numbers: those without a number or with 0, which are the device itself,
// and each other one alone, because nothing says which of them belong together.
func components(params ...any) (any, error) {
	if len(params) != 1 {
		return nil, fail("components takes one object")
	}
	object, ok := params[0].(map[string]any)
	if !ok {
		return nil, fail("is not an object")
	}
	own := map[string]any{}
	list := []any{}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		kind, number, _ := strings.Cut(key, ":")
		_, isComponent := object[key].(map[string]any)
		switch {
		case !isComponent:
		case number == "" || number == "0":
			own[kind] = object[key]
		case slices.Contains([]string{"temperature", "humidity", "switch", "pm1", "em1", "bthomesensor"}, kind):
			list = append(list, []any{"/" + key, map[string]any{kind: object[key]}})
		}
	}
	if len(own) > 0 || len(list) == 0 {
		list = slices.Insert(list, 0, any([]any{"", own}))
	}
	return list, nil
}
