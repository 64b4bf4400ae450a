package evaluate

import (
	"fmt"
	"os"
	"strings"
)

// replaceSection puts a report between the marks <!-- evaluate NAME --> and
// <!-- end NAME --> of a Markdown file, so that no number of it is written by
// hand. Reports that are no Markdown themselves are fenced.
func replaceSection(path, name, report string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("evaluate: %w", err)
	}
	begin, end := "<!-- evaluate "+name+" -->", "<!-- end "+name+" -->"
	before, rest, ok1 := strings.Cut(string(b), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		return fmt.Errorf("evaluate: %s has no section %s … %s", path, begin, end)
	}
	report = strings.TrimSpace(report)
	if !strings.HasPrefix(report, "|") && !strings.HasPrefix(report, "#") && name != "simulator" {
		report = "```\n" + report + "\n```"
	}
	if err := os.WriteFile(path, []byte(before+begin+"\n"+report+"\n"+end+after), 0o644); err != nil {
		return fmt.Errorf("evaluate: %w", err)
	}
	return nil
}
