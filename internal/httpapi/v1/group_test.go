package v1

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi/shortpath"
	"github.com/rimewatch/rimewatch/internal/httpapi/submit"
	"github.com/rimewatch/rimewatch/internal/store"
)

// posts are requests that come to another server at a millisecond each: of two
// workspaces, and of every fate.
func (r *rig) posts() (list []submit.Posted) {
	reading := func(serial string, value int) string {
		return fmt.Sprintf(`{"device_serial":%q,"product_zone_temp":%d}`, serial, value)
	}
	dated := fmt.Sprintf(`{"device_serial":"WIF-0001","product_zone_temp":-7,"recorded_at":%d}`, rigStart-5000)
	vitals := `{"device_serial":"WIF-0001","product_zone_temp":-11,"battery_pct":80,"firmware_version":"1.2"}`
	for i, x := range []struct{ token, body string }{
		{r.feed, reading("WIF-0001", -18)}, {r.feed, reading("WIF-0002", -18)}, {r.feed, reading("WIF-0001", -18)},
		{r.feed, reading("WIF-0001", -19)}, {"bad", reading("WIF-0001", -20)}, {r.read, reading("WIF-0001", -20)},
		{r.otherFull, reading("WIF-0001", -3)}, {r.feed, "{"}, {r.feed, `{"device_serial":"WIF-0001","humidity":101}`},
		{r.feed, reading("none", 1)}, {r.otherFull, reading("new", 1)}, {r.feed, dated}, {r.feed, dated}, {r.feed, vitals},
		{r.feed, reading("WIF-0002", -16)},
	} {
		var p submit.Posted
		q := shortpath.Request{Token: x.token, ID: []byte(fmt.Sprint("me-", i)), Body: []byte(x.body), Remote: remote("192.0.2.1:77")}
		if err := p.Request.Decode(q.Append(nil)); err != nil {
			r.t.Fatal(err)
		}
		p.At = r.now() + rimewatch.Time(i/3) // some come at once
		list = append(list, p)
	}
	return list
}

// remote is a net.Addr.
type remote string

func (remote) Network() string  { return "tcp" }
func (a remote) String() string { return string(a) }

func answersOf(list []submit.Posted) (all []string) {
	for i := range list {
		all = append(all, string(list[i].Answer.Append(nil)))
	}
	return all
}

func groupRig(t *testing.T, change ...func(*whole)) *rig {
	r := newRig(t, change...)
	r.device("WIF-0001", "other")
	r.device("WIF-0002", "other")
	r.unknown(r.other.ID, rimewatch.RegisterUnknown)
	if _, err := r.ingest.CreateDevice(t.Context(), &rimewatch.Device{WorkspaceID: r.other.ID, Serial: "WIF-0001", Name: "Theirs", EquipmentType: "other"}); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestPostAllAnswersLikePost: what comes together is answered as it would be one after
// the other, and when it is sent again, nothing is stored twice.
func TestPostAllAnswersLikePost(t *testing.T) {
	one := groupRig(t)
	list := one.posts()
	one.advance(20_000_000)
	for i := range list {
		ctx := store.WithArrival(context.Background(), store.Arrival{At: list[i].At})
		one.readings.Post(ctx, &list[i].Request, &list[i].Answer)
	}
	want := answersOf(list)
	r := groupRig(t)
	list = r.posts()
	r.advance(20_000_000)
	r.readings.PostAll(list, false)
	got := answersOf(list)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	r.readings.PostAll(list, true)
	for i := range list {
		a := &list[i].Answer
		was := got[i]
		if a.Status == http.StatusCreated || a.Status == http.StatusOK != strings.Contains(was, `"success":true`) {
			t.Errorf("%s again: %d %s", list[i].Request.Body, a.Status, a.Body)
		}
		if a.Status != http.StatusOK {
			continue
		}
		if stored := strings.Replace(was, `"duplicate":false`, `"duplicate":true`, 1); !strings.HasSuffix(stored, string(a.Body)) {
			t.Errorf("%s again: %s, before: %s", list[i].Request.Body, a.Body, was)
		}
	}
}

// failingWriter fails, or panics.
type failingWriter struct {
	submit.Writer
	err error
}

func (w *failingWriter) Submit(context.Context, []store.Input, []store.Vitals) error {
	if w.err == nil {
		panic("a bug")
	}
	return w.err
}

// TestPostAllFails: where nothing can be stored, everybody is told so, and what is wrong
// with a request is said nevertheless. One that did not come whole is not answered.
func TestPostAllFails(t *testing.T) {
	w := &failingWriter{}
	r := groupRig(t, func(c *whole) { w.Writer = c.readings.Writer; c.readings.Writer = w })
	for _, err := range []error{&rimewatch.Error{Code: rimewatch.CodeUnavailable, Message: "Busy."}, errors.New("a fault"), nil} {
		w.err = err
		want := http.StatusInternalServerError
		if rimewatch.CodeOf(err) == rimewatch.CodeUnavailable {
			want = http.StatusServiceUnavailable
		}
		list := r.posts()
		list[1].Bad = true
		r.readings.PostAll(list, false)
		for i, s := range map[int]int{0: want, 1: 0, 2: want, 4: http.StatusUnauthorized, 5: http.StatusForbidden, 7: http.StatusBadRequest, 8: http.StatusUnprocessableEntity, 14: want} {
			if a := &list[i].Answer; a.Status != s {
				t.Errorf("%v: %s: %d %s, not %d", err, list[i].Request.Body, a.Status, a.Body, s)
			}
		}
	}
}
