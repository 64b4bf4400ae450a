package httpapi

import "testing"

func TestPreferred(t *testing.T) {
	for _, c := range []struct{ accept, want string }{
		{"", TypeJSON},
		{"text/csv", TypeCSV},
		{"*/*", TypeJSON},
		{"Text/CSV; charset=utf-8", TypeCSV},
		{"text/csv, application/json", TypeCSV},
		{"application/json, text/csv", TypeJSON},
		{"text/csv;q=0, application/json", TypeJSON},
		{"text/csv;q=0", TypeJSON},
		{"application/json;q=0.5, text/csv;q=1", TypeCSV},
		{"text/html, */*;q=0.8, text/csv;q=0.9", TypeCSV},
		{"text/csv;q=x, application/pdf", TypeJSON},
		{";;,", TypeJSON},
	} {
		if got := Preferred(c.accept, TypeJSON, TypeCSV); got != c.want {
			t.Errorf("%q: %s, want %s", c.accept, got, c.want)
		}
	}
}
