package store

import (
	"context"

	"github.com/rimewatch/rimewatch"
)

// Answer is the answer to a request with an Idempotency-Key, for those who
// send it again.
type Answer struct {
	WorkspaceID int64
	Caller      int64 // id of the token; of a person's session the user's, negative
	Key         string
	Request     [32]byte // hash of the request
	At          rimewatch.Time
	// DeviceID and ReadingAt name the reading that the request stored, 0 = it was
	// another one: its answer can be made again.
	DeviceID  int64
	ReadingAt rimewatch.Time
	Status    int // 0 = it was carried out, but its answer is not known
	Body      []byte
}

// AnswerLife is for how long answers are kept.
const AnswerLife = rimewatch.Day

// Answers keeps the answers to requests with an Idempotency-Key. A request whose
// context carries one (see WithAnswer) leaves it in the transaction of what it
// writes, as far as it is known by then.
type Answers interface {
	// AnswerTo finds an answer that is younger than AnswerLife: CodeNotFound.
	AnswerTo(ctx context.Context, caller int64, key string, now rimewatch.Time) (Answer, error)
	// KeepAnswer keeps one, in place of an earlier one of the key.
	KeepAnswer(ctx context.Context, a *Answer) error
	// TrimAnswers deletes the oldest answers of a workspace until the others take most
	// bytes or less, by Answer.Bytes, and returns how much they take.
	TrimAnswers(ctx context.Context, workspaceID, most int64) (int64, error)
}

// AnswerRow is the size of an answer besides its key and its body, in bytes, with its place
// in the indexes.
const AnswerRow = 200

// Bytes is about how much room the answer takes.
func (a *Answer) Bytes() int64 { return AnswerRow + int64(len(a.Key)+len(a.Body)) }

type answerKey struct{}

// WithAnswer returns a context whose calls write as part of a request with an
// Idempotency-Key; nil = of none.
func WithAnswer(ctx context.Context, a *Answer) context.Context {
	return context.WithValue(ctx, answerKey{}, a)
}

// AnswerOf returns the answer that is kept with the writes of ctx, nil = none.
func AnswerOf(ctx context.Context) *Answer {
	a, _ := ctx.Value(answerKey{}).(*Answer)
	return a
}

// Arrival is when a request with readings came, where it was another server that took it
// in.
type Arrival struct{ At rimewatch.Time }

type arrivalKey struct{}

// WithArrival returns a context whose calls store what came with a.
func WithArrival(ctx context.Context, a Arrival) context.Context {
	return context.WithValue(ctx, arrivalKey{}, a)
}

// ArrivalOf returns how a request came, the zero value where it came to this server.
func ArrivalOf(ctx context.Context) Arrival {
	a, _ := ctx.Value(arrivalKey{}).(Arrival)
	return a
}

// ArrivedAt returns when a request was taken in: now, or earlier by another server.
func ArrivedAt(ctx context.Context, now rimewatch.Time) rimewatch.Time {
	if at := ArrivalOf(ctx).At; at != 0 {
		return at
	}
	return now
}
