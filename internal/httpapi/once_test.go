package httpapi

import (
	"context"
	"fmt"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/store"
)

// answerBook keeps answers in the order of their times.
type answerBook struct {
	Authenticator

	list []store.Answer
	most int64 // that was kept at any time
}

func (b *answerBook) AnswerTo(_ context.Context, caller int64, key string, _ rimewatch.Time) (store.Answer, error) {
	for _, x := range b.list {
		if x.Caller == caller && x.Key == key {
			return x, nil
		}
	}
	return store.Answer{}, rimewatch.Errorf(rimewatch.CodeNotFound, "There is none.")
}

func (b *answerBook) bytes() (n int64) {
	for i := range b.list {
		n += b.list[i].Bytes()
	}
	return n
}

func (b *answerBook) KeepAnswer(_ context.Context, x *store.Answer) error {
	b.list = append(b.list, *x)
	b.most = max(b.most, b.bytes())
	return nil
}

func (b *answerBook) TrimAnswers(_ context.Context, _, most int64) (int64, error) {
	for b.bytes() > most {
		b.list = slices.Delete(b.list, 0, 1)
	}
	return b.bytes(), nil
}

// TestKeptAnswersAreBounded: whatever is asked under however many keys, also before this server
// started, what is kept of it has a bound for each answer and each workspace; the newest are there.
func TestKeptAnswersAreBounded(t *testing.T) {
	book := &answerBook{list: []store.Answer{{WorkspaceID: 1, Caller: 7, Key: "of the server before", Body: make([]byte, maxKeptAnswers)}}}
	a, err := New(Config{Auth: book, Now: func() rimewatch.Time { return 0 }})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(key string, size int) (status int, replayed bool, e *rimewatch.Error) {
		r := httptest.NewRequest("POST", "/x", nil)
		r.Header.Set(keyHeader, key)
		status, _, replayed, e = a.Once(r, &Work{Principal: &account.Principal{WorkspaceID: 1, TokenID: 7}, Now: rimewatch.Time(len(book.list)), Do: func(context.Context) (int, []byte, *rimewatch.Error) {
			return 200, make([]byte, size), nil
		}})
		return status, replayed, e
	}
	for i := range 500 {
		if _, replayed, e := ask(fmt.Sprint("key ", i), maxKeptAnswer); replayed || e != nil {
			t.Fatal(i, replayed, e)
		}
		if i == 0 {
			book.most = 0
		}
	}
	if book.most > maxKeptAnswers || len(book.list) < 90 {
		t.Errorf("%d bytes were kept, %d answers are left", book.most, len(book.list))
	}
	if status, replayed, e := ask("key 499", maxKeptAnswer); status != 200 || !replayed || e != nil {
		t.Errorf("the newest: %d %v %v", status, replayed, e)
	}
	if _, replayed, e := ask("large", maxKeptAnswer+1); replayed || e != nil {
		t.Fatal(replayed, e)
	}
	if _, _, e := ask("large", maxKeptAnswer+1); e == nil || e.Code != rimewatch.CodeConflict {
		t.Errorf("one that is too large, again: %v", e)
	}
}
