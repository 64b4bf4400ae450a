package archtest

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestRulesHaveOneRow: a rule that compares a measurement with a limit is a type in
// alert.go, a row of the rules and its sentences. The UI's copy of its name is written
// by the tests, its page is docs/alerting.md and the scene of its picture, and whatever
// else has to do with rules is made from the row; so adding one touches three files of
// code.
func TestRulesHaveOneRow(t *testing.T) {
	want := []string{"alert.go", "internal/alert/rules.go", "internal/phrase/english.go"}
	beside := []string{"web/src/words/types.ts", "lab/pictures/alerts.go"}
	comment := regexp.MustCompile(`(?m)^\s*//.*$`)
	for _, pattern := range []string{
		`high_ambient_temperature|HighAmbientTemperature`, `low_ambient_temperature|LowAmbientTemperature`, `high_humidity|HighHumidity`,
	} {
		var files []string
		re := regexp.MustCompile(`\b(` + pattern + `)\b`)
		walk(t, func(path string, text []byte) {
			switch {
			case strings.HasSuffix(path, "_test.go"), strings.HasSuffix(path, ".test.ts"), strings.Contains(path, "/storetest/"), slices.Contains(beside, path):
			case re.Match(comment.ReplaceAll(text, nil)):
				files = append(files, path)
			}
		})
		if !slices.Equal(files, want) {
			t.Errorf("%s is named in %s, not in %s", pattern, strings.Join(files, ", "), strings.Join(want, ", "))
		}
	}
}
