package message_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch/internal/notify/message"
)

// TestSafe: names neither call people in chats nor show other than they are.
func TestSafe(t *testing.T) {
	const z = "\u200b"
	for _, c := range []struct{ text, plain, chat string }{
		{"Back walk-in: −8.2 °C", "Back walk-in: −8.2 °C", "Back walk-in: −8.2 °C"},
		{"@everyone", "@everyone", "@" + z + "everyone"}, // Discord, Google Chat, Zulip, Mattermost
		{"@here @channel @all", "@here @channel @all", "@" + z + "here @" + z + "channel @" + z + "all"},
		{"@**all**", "@**all**", "@" + z + "**all**"}, // Zulip
		{"＠everyone", "＠everyone", "＠" + z + "everyone"},
		{"eva@example.com", "eva@example.com", "eva@" + z + "example.com"},
		{"<!channel> <!here>", "<!channel> <!here>", "‹!channel› ‹!here›"}, // Slack
		{"<@U024BE7LH> <#C024BE7LR>", "<@U024BE7LH> <#C024BE7LR>", "‹@" + z + "U024BE7LH› ‹#C024BE7LR›"},
		{"<users/all>", "<users/all>", "‹users/all›"},          // Google Chat
		{"<at>all</at>", "<at>all</at>", "‹at›all‹/at›"},       // Teams, Feishu
		{"@\u200beveryone", "@everyone", "@" + z + "everyone"}, // already parted: told apart by nothing
		{"\u202egnp.exe", "gnp.exe", "gnp.exe"},
		{"a\u202a\u202b\u202c\u202d\u2066\u2067\u2068\u2069\u200e\u200f\u061cb", "ab", "ab"},
		{"a\x00\x07\x1b[31m\u0085b\u007f", "a[31mb", "a[31mb"},
		{"a\r\nb\tc\u2028d", "a  b c d", "a  b c d"},
		{"a\ufeff\u00ad\u2060\U000e0041b", "ab", "ab"},
		{"👩‍🔧 \u0645\u06cc\u200c\u062e", "👩‍🔧 \u0645\u06cc\u200c\u062e", "👩‍🔧 \u0645\u06cc\u200c\u062e"},
		{"a\xffb", "a�b", "a�b"},
	} {
		if got := message.Safe(c.text, false, false); got != c.plain {
			t.Errorf("%q became %q, want %q", c.text, got, c.plain)
		}
		if got := message.Safe(c.text, false, true); got != c.chat {
			t.Errorf("%q became %q in a chat, want %q", c.text, got, c.chat)
		}
	}
	if got := message.Safe("a\nb", true, true); got != "a\nb" {
		t.Errorf("lines became %q", got)
	}
	// Every text of a message goes through it.
	evil := "x\u202e@y"
	m := &message.Message{Data: message.Data{Workspace: message.Ref{Name: evil}, Subject: evil, Tag: evil, Text: evil,
		Facts: []message.Fact{{Label: evil, Value: evil}}, Alerts: []message.Line{{Text: evil}},
		Device: &message.Device{Name: evil, Serial: evil}, Site: &message.Site{Name: evil, Address: evil}}}
	b, err := m.Safe(true).Encode()
	if err != nil {
		t.Fatal(err)
	}
	if s := string(b); strings.Contains(s, "\u202e") || strings.Count(s, "x@"+z+"y") != 11 {
		t.Errorf("a message became %s", s)
	}
	if diff := cmp.Diff(m.Data.Facts[0].Value, evil); diff != "" {
		t.Error("the message itself has changed")
	}
}
