package twilio

import (
	"encoding/xml"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/rimewatch/rimewatch/internal/phrase"
)

var (
	minus = regexp.MustCompile(`−(\d)`)
	spans = regexp.MustCompile(`(\d+) (d|h|min|s)\b`)
)

// Spoken writes out what voices misread: the minus sign, which they leave out, units
// and spans, whatever spaces they are written with.
func Spoken(w phrase.Words, text string) string {
	text = minus.ReplaceAllString(strings.Join(strings.Fields(text), " "), w.Say("minus")+" $1")
	text = strings.NewReplacer("°C", w.Say("degrees Celsius"), "°F", w.Say("degrees Fahrenheit"), " – ", ", ", "“", "", "”", "").Replace(text)
	return spans.ReplaceAllStringFunc(text, func(s string) string {
		digits, unit, _ := strings.Cut(s, " ")
		n, err := strconv.Atoi(digits)
		if err != nil {
			return s
		}
		switch unit {
		case "d":
			return w.Count(n, "%d day", "%d days")
		case "h":
			return w.Count(n, "%d hour", "%d hours")
		case "min":
			return w.Count(n, "%d minute", "%d minutes")
		default:
			return w.Count(n, "%d second", "%d seconds")
		}
	})
}

// voices are the languages of Twilio's voices by ours
// (https://www.twilio.com/docs/voice/twiml/say#attributes-language).
var voices = map[string]string{"es": "es-ES"}

func voice(w phrase.Words) string {
	if v, ok := voices[w.Language]; ok {
		return v
	}
	return "en-US"
}

type (
	say struct {
		XMLName  xml.Name `xml:"Say"`
		Language string   `xml:"language,attr"`
		Loop     int      `xml:"loop,attr,omitempty"`
		Text     string   `xml:",chardata"`
	}
	gather struct {
		XMLName   xml.Name `xml:"Gather"`
		Input     string   `xml:"input,attr"`
		NumDigits int      `xml:"numDigits,attr"`
		Timeout   int      `xml:"timeout,attr"` // s
		Action    string   `xml:"action,attr"`
		Method    string   `xml:"method,attr"`
		Say       say
	}
	response struct {
		XMLName xml.Name `xml:"Response"`
		Does    []any
	}
)

// Answer is the TwiML that says texts one after the other and hangs up.
func Answer(w phrase.Words, texts ...string) string {
	var r response
	for _, text := range texts {
		r.Does = append(r.Does, say{Language: voice(w), Text: text})
	}
	return written(&r)
}

// Ask is the TwiML that says a text twice, and sends the key that is pressed to
// address; otherwise it says last and hangs up.
func Ask(w phrase.Words, address, text, last string) string {
	return written(&response{Does: []any{
		gather{Input: "dtmf", NumDigits: 1, Timeout: 10, Action: address, Method: http.MethodPost, Say: say{Language: voice(w), Loop: 2, Text: text}},
		say{Language: voice(w), Text: last},
	}})
}

func written(r *response) string {
	b, err := xml.Marshal(r)
	if err != nil { // texts and numbers cannot fail
		panic(err)
	}
	return xml.Header + string(b)
}
