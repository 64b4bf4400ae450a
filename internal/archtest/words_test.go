package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// awkward are wordings that read like a translation. They are patterns, so that
// they do not stand here themselves.
var awkward = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b(is|are|was|were|be|nobody is|somebody is|people are) told\b`),
	regexp.MustCompile(`(?i)\ball (is|are) right\b`),
	regexp.MustCompile(`(?i)\btakes care\b|\btaken care of it\b`),
	regexp.MustCompile(`(?i)\bby themselves\b.*unknown|unknown.*\bby themselves\b`),
	regexp.MustCompile(`(?i)\bcheck of its probes\b`),
	regexp.MustCompile(`(?i)\bso that it does not happen\b`),
	regexp.MustCompile(`(?i)^#+ (before people|keeping it|telling people|how large|storms)$`),
	regexp.MustCompile(`(?i)\ba person is respected\b`),
	regexp.MustCompile(`(?i)\bfor the right reason\b`),
	regexp.MustCompile(`(?i)\bchange its mind\b|\bin the open\b`),
	regexp.MustCompile(`(?i)\bdrops? doubles\b|\bthe token alone\b`),
	regexp.MustCompile(`(?i)\bof everything random\b|\bleast level\b`),
	regexp.MustCompile(`(?i)\bnobody signs in\b`),
	regexp.MustCompile(`(?i)\brequest was given up\b|\bstore is behind\b|\bfrom another site is refused\b`),
	regexp.MustCompile(`(?i)\bnext best:|\blooks like a fouled\b`),
	regexp.MustCompile(`(?i)\bgets too (little|much) voltage\b|\bmay have its door\b|\bhas a condenser that\b`),
	regexp.MustCompile(`(?i)\bways? in which people\b|\bsays? when it is over\b`),
	regexp.MustCompile(`(?i)\bstays with the standard\b`),
	regexp.MustCompile(`(?i)\blearnt anew\b|\bbegun anew\b|\bi mean it\b`),
	regexp.MustCompile(`(?i)\blook whether\b|\bnothing else than\b|\b(is|are) no known\b|\ballow to [a-z]+ to\b|\bwhat answers there\b`),
	regexp.MustCompile(`(?i)\bgiven up\b|\bof which nobody is alerted\b`),
	regexp.MustCompile(`(?i)\bservices are named by a url\b|\bno longer explained\b|\bexplained by another\b`),
	regexp.MustCompile(`(?i)\b(has no power|runs hot)"|\bfailure expected in\b|\bwindows back at this\b|^the one device\b|\btemp deviation\b|\bno check of its\b`),
	regexp.MustCompile(`(?i)\bthrough a way that works\b|\bpasses its limit to defrost\b|\bjudges food safety\b|\ban empty field stays\b|\bonce the message is on disk\b`),
	regexp.MustCompile(`(?i)\bsurvives? also\b|\b(is|are) found out\b|\bby itself and logs\b|\bwhere this is not said\b`),
	regexp.MustCompile(`(?i)\b(is|are) (theirs|his|hers) no more\b|\bwaits at the source\b|\basks for nothing\b|\bbegins anew\b|\bwhat comes from a sender that\b`),
	regexp.MustCompile(`(?i)\bwhoever runs it sets --|\btold as a\b|\btold with (their|its) name\b|\b(alerts|failures|defrosts) told\b`),
}

// translated are wordings that no comment of ours has any more. Comments are read by
// fewer, and are held against these alone.
var translated = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b(takes?|taking|taken|took) care of\b`),
	regexp.MustCompile(`(?i)\btells whether\b|\bdrops? doubles\b|\bwhat people are told\b|\bof which nobody is alerted\b`),
}

// TestPlainEnglish: what people read (the web UI, the documents, the policies,
// messages, errors and help) has none of the wordings that were once translated.
func TestPlainEnglish(t *testing.T) {
	if testing.Short() {
		t.Skip("reads every line, on one goroutine")
	}
	read := 0
	check := func(path string, line int, text string) {
		read++
		for _, p := range awkward {
			if found := p.FindString(text); found != "" {
				t.Errorf("%s:%d: %q", path, line, found)
			}
		}
	}
	comments := 0
	comment := func(path string, line int, text string) {
		comments++
		for _, p := range translated {
			if found := p.FindString(text); found != "" {
				t.Errorf("%s:%d: %q", path, line, found)
			}
		}
	}
	const root = "../.."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); path != root && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "testdata" || name == "dist" || name == "bin" || name == "adr" || name == "e2e" || name == "lint") {
				return filepath.SkipDir
			}
			return nil
		}
		switch ext := filepath.Ext(path); {
		case ext == ".md" || ext == ".svelte" || ext == ".html" || ext == ".ts" && !strings.HasSuffix(path, ".test.ts") && !strings.HasSuffix(path, "schema.d.ts"):
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for i, line := range strings.Split(string(text), "\n") {
				check(path, i+1, line)
			}
		case ext == ".go" && !strings.HasSuffix(path, "_test.go"):
			return literals(path, check, comment)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read < 5000 || comments < 5000 {
		t.Errorf("only %d lines and strings and %d comments were read: the test looks in the wrong place", read, comments)
	}
}

// literals calls f for the strings of a Go file that hold more than a word, and
// comment for its comments.
func literals(path string, f, comment func(path string, line int, text string)) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	for _, c := range file.Comments {
		comment(path, set.Position(c.Pos()).Line, strings.Join(strings.Fields(c.Text()), " "))
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && strings.Contains(lit.Value, " ") {
			f(path, set.Position(lit.Pos()).Line, lit.Value)
		}
		return true
	})
	return nil
}

// TestAwkwardIsFound: the patterns find what they are for.
func TestAwkwardIsFound(t *testing.T) {
	for _, text := range []string{"Nobody is " + "told.", "Everything is fine, all is " + "right.", "## Keeping " + "it", "Of everything " + "random.", "The store is " + "behind.", "failed: given " + "up", "The channel is theirs " + "no more."} {
		found := false
		for _, p := range awkward {
			found = found || p.MatchString(text)
		}
		if !found {
			t.Errorf("%q passes", text)
		}
	}
}
