package inlet

import (
	"bytes"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
)

// nameOthers names the temperatures and humidities that are not among what was
// read, so that a second probe does not vanish without a word. Settings, and what
// electronics say of themselves, are not named.
func (r *Reading) nameOthers(found []leaf) {
	known := r.Fields
	for i := range found {
		l := &found[i]
		name := rimewatch.ProductZoneTemp.String()
		switch {
		case strings.Contains(l.name, "temp"):
		case strings.Contains(l.name, "humid"):
			name = rimewatch.Humidity.String()
		default:
			continue
		}
		same := func(f Field) bool { // it was read or refused, or what was read in another unit
			return f.Expression == l.path || f.Name == name && f.Problem != "" || withoutUnit(f.Expression) == withoutUnit(l.path)
		}
		word := func(w string) bool { return strings.Contains(l.name, w) }
		if !numeric(l) || slices.ContainsFunc(known, same) || slices.ContainsFunc(otherWords, word) {
			continue
		}
		r.Fields = append(r.Fields, Field{Name: name, Expression: l.path, Found: l.value, Sent: true,
			Problem: reason(fail("comes as %s, and nothing says what that measures; say so by a binding", clip(l.key, 60)))})
	}
}

// nameRepeated names what was read under a name that an object has more than once,
// of which JSON leaves the last.
func (r *Reading) nameRepeated(keys map[string]bool) {
	if len(keys) == 0 {
		return
	}
	for _, f := range slices.Clone(r.Fields) {
		for key := range keys {
			if f.Sent && strings.HasSuffix(f.Expression, member("", key)) {
				f.Problem = reason(fail("is in the payload more than once, and only the last was read"))
				r.Fields = append(r.Fields, f)
				break
			}
		}
	}
}

// repeatedKeys returns the names, as they are written, that an object of a JSON
// document has more than once.
func repeatedKeys(body []byte) (found map[string]bool) {
	var seen []map[string]bool // of the objects and lists around
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '{', '[':
			seen = append(seen, nil)
		case '}', ']':
			seen = seen[:max(len(seen)-1, 0)]
		case '"':
			begin := i + 1
			for i++; i < len(body) && body[i] != '"'; i++ {
				if body[i] == '\\' {
					i++
				}
			}
			if i >= len(body) || len(seen) == 0 || !bytes.HasPrefix(bytes.TrimLeft(body[i+1:], " \t\r\n"), []byte(":")) {
				continue
			}
			key, in := string(body[begin:i]), &seen[len(seen)-1]
			switch {
			case *in == nil:
				*in = map[string]bool{key: true}
			case !(*in)[key]:
				(*in)[key] = true
			case found == nil:
				found = map[string]bool{key: true}
			default:
				found[key] = true
			}
		}
	}
	return found
}
