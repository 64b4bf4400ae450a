package account

import (
	"fmt"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestCallsAreBounded: however many requests there are, what waits of them is bounded, and those that are alike are counted.
func TestCallsAreBounded(t *testing.T) {
	var c calls
	p := &Principal{TokenID: 7}
	n := 0
	for range 10 * rimewatch.TokenCallOf {
		if c.Counts(p) {
			n++
		}
	}
	if n != 10 || c.Counts(&Principal{UserID: 1, Session: true}) {
		t.Errorf("%d of a thousand good requests are kept", n)
	}
	refused := func(token int64, field string) rimewatch.TokenCall {
		return rimewatch.TokenCall{TokenID: token, At: 1, Status: 422, Code: rimewatch.CodeValidationFailed, Fields: map[string]string{field: "must be a number"}}
	}
	for range 10_000 {
		c.Called(refused(7, "humidity"))
	}
	for i := range 10_000 {
		c.Called(refused(7, fmt.Sprint("field", i))) // like none of those that wait
		c.Called(rimewatch.TokenCall{TokenID: 7, Status: 200})
	}
	for i := range 100_000 {
		c.Called(refused(int64(i+8), "voltage"))
	}
	list := c.take()
	if len(list) != waitingCalls || len(c.take()) != 0 {
		t.Fatalf("%d requests wait", len(list))
	}
	times := make(map[int]int) // by status, of token 7
	rows := 0
	for _, x := range list {
		if x.TokenID == 7 {
			times[x.Status] += x.Times
			rows++
		}
	}
	if times[422] != 10_000 || times[200] != 10_000 || rows != waitingRefused+waitingGood {
		t.Errorf("%v in %d rows", times, rows)
	}
}
