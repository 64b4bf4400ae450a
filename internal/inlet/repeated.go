package inlet

import (
	"bytes"
	"slices"
	"strings"
)

// nameRepeated names values that were read under a name that an object has more than once,
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
