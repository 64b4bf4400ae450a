package rimewatch

import (
	"slices"
	"strconv"
	"strings"
)

// Sites are the ids of the sites that a member or a token is limited to, in order;
// nil = everything of the workspace, devices without a site too.
type Sites []int64

// MaxSites bounds what somebody is limited to.
const MaxSites = 200

// Has reports whether what belongs to a site (0 = to none) is within the limit.
func (s Sites) Has(id int64) bool { return s == nil || slices.Contains(s, id) }

// Check reports why s is no limit: CodeValidationFailed on site_ids.
func (s Sites) Check() *Error {
	if s != nil && len(s) == 0 {
		return Invalid("site_ids", "must name a site; null is for all")
	}
	if len(s) > MaxSites || !slices.IsSorted(s) || len(slices.Compact(slices.Clone(s))) != len(s) {
		return Invalid("site_ids", "must be at most %d different sites", MaxSites)
	}
	return nil
}

// Text is the stored form of s: "" for nil, otherwise ids between commas.
func (s Sites) Text() string {
	b := make([]byte, 0, 8*len(s))
	for i, id := range s {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, id, 10)
	}
	return string(b)
}

// ParseSites reads Text. What is damaged limits to less, never to more.
func ParseSites(text string) Sites {
	if text == "" {
		return nil
	}
	s := Sites{}
	for part := range strings.SplitSeq(text, ",") {
		if id, err := strconv.ParseInt(part, 10, 64); err == nil {
			s = append(s, id)
		}
	}
	return s
}
