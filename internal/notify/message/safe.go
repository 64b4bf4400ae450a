package message

import (
	"slices"
	"strings"
	"unicode"
)

// Safe makes a text that may hold names which somebody has chosen harmless to those who
// read it elsewhere. Controls and what turns the direction of writing (U+202E and its kind)
// or is invisible are left out; where lines is false, ends of lines become spaces. For a
// chat, which is where people are called by "@everyone", "@here", "<!channel>", "<@U123>"
// or "<users/all>", a zero-width space parts the sign from the name, and angle brackets,
// from which some services read their own markup, become ‹ and ›.
func Safe(text string, lines, chat bool) string {
	return strings.ToValidUTF8(mapped(text, lines, chat), "�")
}

func mapped(text string, lines, chat bool) string {
	if strings.IndexFunc(text, func(c rune) bool { return c >= 0x7f || c < ' ' || c == '<' || c == '>' || c == '@' }) < 0 {
		return text
	}
	var b strings.Builder
	for _, c := range text {
		switch {
		case c == '\n' && lines:
			b.WriteRune(c)
		case c == '\n', c == '\r', c == '\t', c == '\u2028', c == '\u2029':
			b.WriteByte(' ')
		case hidden(c):
		case chat && (c == '@' || c == '＠'):
			b.WriteRune(c)
			b.WriteRune('\u200b')
		case chat && c == '<':
			b.WriteRune('‹')
		case chat && c == '>':
			b.WriteRune('›')
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// hidden reports whether a character is a control or one that shows nothing by itself, but
// for the joiners that words of some languages, and emojis, are written with.
func hidden(c rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return unicode.IsControl(c) || unicode.Is(unicode.Cf, c) && c != nonJoiner && c != joiner
}

// Safe returns the message with all that people read of it made harmless, see the function
// of that name. The alert as in the REST API stays as it is.
func (m *Message) Safe(chat bool) *Message {
	out := *m
	d := &out.Data
	line := func(s *string) { *s = Safe(*s, false, chat) }
	line(&d.Workspace.Name)
	line(&d.Subject)
	line(&d.Tag)
	d.Text = Safe(d.Text, true, chat)
	d.Facts = slices.Clone(d.Facts)
	for i := range d.Facts {
		line(&d.Facts[i].Label)
		line(&d.Facts[i].Value)
	}
	d.Alerts = slices.Clone(d.Alerts)
	for i := range d.Alerts {
		line(&d.Alerts[i].Text)
	}
	if d.Device != nil {
		x := *d.Device
		line(&x.Name)
		line(&x.Serial)
		d.Device = &x
	}
	if d.Site != nil {
		x := *d.Site
		line(&x.Name)
		line(&x.Address)
		d.Site = &x
	}
	return &out
}
