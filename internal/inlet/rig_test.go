package inlet

import (
	"strings"
	"testing"
)

func library(t testing.TB) *Library {
	t.Helper()
	lib, err := NewLibrary()
	if err != nil {
		t.Fatal(err)
	}
	return lib
}

func replaceOnce(pattern, with string) string { return strings.Replace(pattern, "%", with, 1) }
