package storetest

import (
	"errors"
	"fmt"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// answers: what is known of a request with a key becomes durable with what the
// request writes, or not at all.
func answers(f *fixture) {
	a := f.addDevice("A")
	other := f.newWorkspace("Other")
	answer := func(caller int64, key string) *store.Answer {
		return &store.Answer{WorkspaceID: f.workspace, Caller: caller, Key: key, Request: hashOf(key), At: f.now}
	}
	find := func(caller int64, key string) (store.Answer, bool) {
		f.Helper()
		got, err := f.s.AnswerTo(f.ctx, caller, key, f.now)
		if err != nil {
			f.code(err, rimewatch.CodeNotFound)
		}
		return got, err == nil
	}
	// With a group of readings.
	of := answer(7, "reading")
	of.DeviceID, of.ReadingAt = a, t0
	in := []store.Input{{Kind: store.InputReading, DeviceID: a, Reading: reading(t0)}}
	f.group(&store.Group{Now: f.now, Parts: [][]store.Input{in}}, store.Effects{Answers: []*store.Answer{of}})
	// With rows of a table.
	of2 := answer(-7, "site")
	with := store.WithAnswer(f.ctx, of2)
	f.must(f.s.Sites().Create(with, &rimewatch.Site{WorkspaceID: f.workspace, Name: "Main Street", TimeZone: "UTC"}))
	f.code(f.s.Sites().Create(store.WithAnswer(f.ctx, answer(7, "refused")), &rimewatch.Site{WorkspaceID: f.workspace, Name: "", TimeZone: "UTC"}), rimewatch.CodeValidationFailed)
	failing := errors.New("no")
	if _, err := f.s.UpdateWorkspace(store.WithAnswer(f.ctx, answer(7, "rolled back")), f.workspace, func(*rimewatch.Workspace) error { return failing }); !errors.Is(err, failing) {
		f.Fatal(err)
	}
	whole := answer(7, "whole")
	whole.Status, whole.Body = 201, []byte(`{"success":true}`)
	f.must(f.s.KeepAnswer(f.ctx, answer(7, "whole")))
	f.must(f.s.KeepAnswer(f.ctx, whole))
	theirs := answer(8, "reading")
	theirs.WorkspaceID = other
	f.must(f.s.KeepAnswer(f.ctx, theirs))
	f.everywhere(func(where string) {
		for _, want := range []*store.Answer{of, of2, whole, theirs} {
			got, ok := find(want.Caller, want.Key)
			if !ok {
				f.Fatalf("%s: the answer %s is gone", where, want.Key)
			}
			f.equal(where+": "+want.Key, got, *want)
		}
		for _, key := range []string{"refused", "rolled back", "site"} {
			if _, ok := find(7, key); ok {
				f.Errorf("%s: %s has an answer", where, key)
			}
		}
	})
	trimAnswers(f, find)
	f.now += store.AnswerLife
	if _, ok := find(7, "whole"); ok {
		f.Error("an answer outlives its day")
	}
	f.must(f.s.People().DeleteExpired(f.ctx, f.now))
	f.now -= rimewatch.Hour
	if _, ok := find(7, "whole"); ok {
		f.Error("an expired answer is not deleted")
	}
}

// trimAnswers: the oldest answers of a workspace go where there are too many bytes of them,
// whoever they were for, and another workspace's stay.
func trimAnswers(f *fixture, find func(caller int64, key string) (store.Answer, bool)) {
	f.Helper()
	big := f.newWorkspace("Big")
	var list []*store.Answer
	for i := range 10 {
		x := &store.Answer{WorkspaceID: big, Caller: 20 + int64(i%2), Key: fmt.Sprintf("big-%d", i), Request: hashOf("big"), At: f.now + rimewatch.Time(i), Status: 200, Body: make([]byte, 1000)}
		f.must(f.s.KeepAnswer(f.ctx, x))
		list = append(list, x)
	}
	each := list[0].Bytes()
	for _, c := range []struct{ most, kept int64 }{{1 << 20, 10}, {10 * each, 10}, {5*each + 1, 5}, {0, 0}} {
		got, err := f.s.TrimAnswers(f.ctx, big, c.most)
		f.must(err)
		f.equal("what is kept", got, c.kept*each)
		for i, x := range list {
			if _, ok := find(x.Caller, x.Key); ok != (i >= 10-int(c.kept)) {
				f.Errorf("with %d bytes: the answer %d is there: %v", c.most, i, ok)
			}
		}
	}
	if _, ok := find(7, "whole"); !ok {
		f.Error("another workspace's answer is gone")
	}
}
