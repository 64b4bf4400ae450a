package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// prefix of the environment variables that are ours.
const prefix = "RIMEWATCH_"

// injected are the variables that Kubernetes sets in each container for a service
// named rimewatch, or rimewatch-something, of the same namespace.
var injected = regexp.MustCompile(`^RIMEWATCH_(.*_)?(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)=|^RIMEWATCH_(.*_)?PORT=(tcp|udp|sctp)://`)

// CheckEnvironment returns the names in environ, which has the form of
// os.Environ, that begin with RIMEWATCH_ and are not in known: those have no
// effect. One that is nearly a known name is an error, for a setting that its
// operator relies on has no effect either.
func CheckEnvironment(environ []string, known map[string]bool) (unknown []string, err error) {
	names := slices.Sorted(maps.Keys(known))
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if known[name] || len(name) <= len(prefix) || !strings.EqualFold(name[:len(prefix)], prefix) || injected.MatchString(entry) {
			continue
		}
		if meant := nearest(name, names); meant != "" {
			return nil, fmt.Errorf("the environment has %s, which is not a known setting, did you mean %s?", name, meant)
		}
		unknown = append(unknown, name)
	}
	slices.Sort(unknown)
	return unknown, nil
}

// nearest returns the name that a person who wrote this one may have meant: with
// other capitals or underscores, or with one slip of the keyboard for each four
// letters, two at most. "" = none.
func nearest(name string, known []string) string {
	written, best, least := bare(name), "", 3
	for _, k := range known {
		meant := bare(k)
		d := slips(written, meant)
		if d < least && d <= min(2, len(meant)/4) {
			best, least = k, d
		}
	}
	return best
}

// bare is a name in capitals without prefix and underscores.
func bare(name string) string {
	return strings.ReplaceAll(strings.ToUpper(name[len(prefix):]), "_", "")
}

// slips is how many letters have to be put in, left out, replaced or swapped with
// their neighbour to make b of a (the optimal string alignment distance).
func slips(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
