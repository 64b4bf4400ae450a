package phrase_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/catalogue"
	"github.com/rimewatch/rimewatch/internal/phrase"
)

// TestReaders: the same alert in the words, units and clocks of several readers.
func TestReaders(t *testing.T) {
	value, limit, hours := -8.2, -15.0, 2.0
	a := &rimewatch.Alert{
		Type: rimewatch.HighTemperature, Severity: rimewatch.Warning, Status: rimewatch.AlertActive, Metric: "product_zone_temp", Unit: "°C",
		Value: &value, Threshold: &limit, ConditionStartedAt: epoch, LastEvaluatedAt: epoch.Add(34 * time.Minute), HoldH: &hours,
	}
	for _, tc := range []struct {
		locale       rimewatch.Locale
		title, what  string
		adviceBegins string
	}{
		{rimewatch.Locale{}, "Too warm", "The product zone is at −8.2 °C (limit −15 °C) and has been too warm for 34 min. At this rate the product zone will be too warm in about 2 h.", "Check"},
		{rimewatch.Locale{Units: "f"}, "Too warm", "The product zone is at 17.2 °F (limit 5 °F) and has been too warm for 34 min. At this rate the product zone will be too warm in about 2 h.", "Check"},
		{rimewatch.Locale{Language: "es"}, "Demasiado caliente", "La zona de producto está a −8,2 °C (límite −15 °C) y lleva 34 min demasiado caliente. A este ritmo la zona de producto estará demasiado caliente en unos 2 h.", "Compruebe"},           //nolint:misspell // Spanish
		{rimewatch.Locale{Language: "es", Units: "f"}, "Demasiado caliente", "La zona de producto está a 17.2 °F (límite 5 °F) y lleva 34 min demasiado caliente. A este ritmo la zona de producto estará demasiado caliente en unos 2 h.", "Compruebe"}, //nolint:misspell // Spanish
	} {
		w := phrase.In(tc.locale)
		what, advice := w.Parts(a)
		if w.Title(a) != tc.title || typed(what) != tc.what || len(advice) < len(tc.adviceBegins) || advice[:len(tc.adviceBegins)] != tc.adviceBegins || w.Message(a) != what+" "+advice {
			t.Errorf("%+v: %q, %q, %q", tc.locale, w.Title(a), what, advice)
		}
	}
}

// TestBegun: a limit without a delay alerts before there is a span to name.
func TestBegun(t *testing.T) {
	value, limit := -8.2, -15.0
	a := &rimewatch.Alert{
		Type: rimewatch.HighTemperature, Severity: rimewatch.Warning, Status: rimewatch.AlertActive, Metric: "product_zone_temp", Unit: "°C",
		Value: &value, Threshold: &limit, ConditionStartedAt: epoch, LastEvaluatedAt: epoch,
	}
	for typ, want := range map[rimewatch.AlertType]string{
		rimewatch.HighTemperature: "The product zone is at −8.2 °C, above its limit of −15 °C.",
		rimewatch.LowTemperature:  "The product zone is at −8.2 °C, below its limit of −5 °C.",
	} {
		if a.Type = typ; typ == rimewatch.LowTemperature {
			limit = -5
		} else {
			limit = -15
		}
		w := phrase.In(rimewatch.Locale{})
		if what, _ := w.Parts(a); typed(what) != want || strings.Contains(typed(w.Headline(a, epoch)), " 0 ") {
			t.Errorf("%s: %q, %q", typ, w.Headline(a, epoch), what)
		}
	}
}

// TestForms: numbers, differences and times as each reader has them.
func TestForms(t *testing.T) {
	at := rimewatch.TimeOf(time.Date(2026, 5, 2, 17, 4, 0, 0, time.UTC))
	for _, tc := range []struct {
		locale                          rimewatch.Locale
		temperature, difference, moment string
	}{
		{rimewatch.Locale{}, "−18.4 °C", "8.5 °C", "Sat 2 May 2026, 19:04 (CEST)"},
		{rimewatch.Locale{Units: "f", Clock: "12h", Dates: "mdy"}, "−1.1 °F", "15.3 °F", "Sat May 2, 2026, 7:04 PM (CEST)"},
		{rimewatch.Locale{Language: "es", Dates: "ymd"}, "−18,4 °C", "8,5 °C", "sáb 2026-05-02, 19:04 (CEST)"},
		{rimewatch.Locale{Language: "es", Clock: "12h"}, "−18,4 °C", "8,5 °C", "sáb 2 may 2026, 7:04 p. m. (CEST)"},
	} {
		w := phrase.In(tc.locale).On("Europe/Berlin")
		if got := typed(w.Quantity(-18.4, "°C")); got != tc.temperature {
			t.Errorf("%+v: %q, want %q", tc.locale, got, tc.temperature)
		}
		if got := typed(w.Quantity(8.5, "K")); got != tc.difference {
			t.Errorf("%+v: %q, want %q", tc.locale, got, tc.difference)
		}
		if got := w.Moment(at); got != tc.moment {
			t.Errorf("%+v: %q, want %q", tc.locale, got, tc.moment)
		}
	}
	if got, want := phrase.In(rimewatch.Locale{}).On("Mars/Base").Moment(at), "Sat 2 May 2026, 17:04 (UTC)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestEveryTextInEveryLanguage: no alert of any type is written with a hole, in
// any language.
func TestEveryTextInEveryLanguage(t *testing.T) {
	for _, tag := range catalogue.Languages() {
		w := phrase.In(rimewatch.Locale{Language: tag, Units: "f"})
		for i := range scenes {
			for _, a := range []*rimewatch.Alert{scenes[i].alertOf(5, scenes[i].open), {Type: scenes[i].typ, Status: rimewatch.AlertResolved, Resolution: rimewatch.ResolvedAuto}} {
				for _, s := range []string{w.Title(a), w.Ending(a), w.Message(a)} {
					if s == "" || whole(s) != s {
						t.Errorf("%s, %s: %q", tag, a.Type, s)
					}
				}
			}
		}
		for _, p := range predictions() {
			if risk := w.Risk(p); !strings.Contains(risk, "\u00a0%") {
				t.Errorf("%s: the sign of %q may stand on another line than its number", tag, risk)
			}
			for _, s := range []string{w.Risk(p), w.Cause(p), w.WouldChange(p), w.Message(&rimewatch.Alert{Prediction: p})} {
				if s == "" || whole(s) != s {
					t.Errorf("%s, %s: %q", tag, p.Fault, s)
				}
			}
		}
	}
}

// whole is s without what fmt writes for a verb that does not fit, and without
// placeholders that nothing filled.
func whole(s string) string {
	for _, hole := range []string{"%!", "%v", "%p", "%l", "%m", "%M", "%t", "%n", "%o", "%s", "%d", "{"} {
		if strings.Contains(s, hole) {
			return ""
		}
	}
	return s
}
