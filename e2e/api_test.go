package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"
)

// apiMain is the command api of the scripts: one call to the server at $URL
// with $TOKEN. It prints the status and the body, JSON in one line per member.
//
//	api [-wait REGEXP] [-token T] [-type CONTENT-TYPE] METHOD PATH [BODY|@FILE]
//
// With -wait the call is made again until what is printed matches.
func apiMain() {
	wait := flag.String("wait", "", "call until the answer matches")
	token := flag.String("token", os.Getenv("TOKEN"), "")
	contentType := flag.String("type", "application/json", "")
	flag.Parse()
	if flag.NArg() < 2 || flag.NArg() > 3 {
		fail("usage: api [flags] method path [body]")
	}
	want, err := regexp.Compile("(?m)" + *wait)
	check(err)
	for begin := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		text := callAPI(flag.Arg(0), flag.Arg(1), flag.Arg(2), *token, *contentType)
		if want.MatchString(text) {
			fmt.Print(text)
			return
		}
		if time.Since(begin) > patience/2 {
			fmt.Print(text)
			fail("it never matched " + *wait)
		}
	}
}

func callAPI(method, path, body, token, contentType string) string {
	var r io.Reader
	switch {
	case strings.HasPrefix(body, "@"):
		b, err := os.ReadFile(body[1:])
		check(err)
		r = bytes.NewReader(b)
	case body != "":
		r = strings.NewReader(body)
	}
	req, err := http.NewRequest(method, os.Getenv("URL")+path, r)
	check(err)
	if r != nil {
		req.Header.Set("Content-Type", contentType)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	check(err)
	b, err := io.ReadAll(resp.Body)
	check(err)
	check(resp.Body.Close())
	var out bytes.Buffer
	if json.Indent(&out, b, "", "") != nil {
		out.Reset()
		out.Write(b)
	}
	return fmt.Sprintf("%d\n%s\n", resp.StatusCode, strings.TrimSpace(out.String()))
}

func check(err error) {
	if err != nil {
		fail(err.Error())
	}
}

func fail(text string) {
	fmt.Fprintln(os.Stderr, text)
	os.Exit(1)
}
