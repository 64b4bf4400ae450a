package submit

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/httpapi/shortpath"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Posted is a plain POST that another server has taken in.
type Posted struct {
	Request shortpath.Request
	At      rimewatch.Time // when that was
	Bad     bool           // it did not come whole: its answer stays empty
	Answer  shortpath.Answer

	id    string
	s     *singleScratch
	p     account.Principal
	who   *store.Identity
	alone bool // Post answers it
	done  bool // it has its answer, or Post makes it
}

// PostAll is Post for many requests. What they bring is committed together, so that
// they wait once; and where they were sent before, as they were then.
func (g *Readings) PostAll(list []Posted, again bool) {
	start := time.Now()
	var others sync.WaitGroup
	inputs := inputPool.Get().(*[]store.Input)
	*inputs = slices.Grow((*inputs)[:0], len(list))
	for i := range list {
		x := &list[i]
		x.Answer.Reset()
		x.alone, x.done = false, x.Bad
		if x.Bad {
			continue
		}
		x.id = g.nameOf(&x.Request)
		if g.prepare(x, inputs); x.alone {
			others.Go(func() { // a device that nobody has registered: that may take long
				g.Post(store.WithArrival(context.Background(), store.Arrival{At: x.At, Again: again}), &x.Request, &x.Answer)
			})
		}
	}
	if len(*inputs) > 0 && g.commit(list, *inputs, again) {
		inputPool.Put(inputs)
	}
	others.Wait()
	took := time.Since(start)
	for i := range list {
		if x := &list[i]; !x.Bad && !x.alone {
			g.singleMeter.Observe(x.Answer.Status, took)
		}
	}
}

var inputPool = sync.Pool{New: func() any { return new([]store.Input) }}

// prepare reads a request and adds what it brings to the inputs; or it answers it, or
// leaves it to Post.
func (g *Readings) prepare(x *Posted, inputs *[]store.Input) {
	defer g.guard(x)
	x.s = g.single.Get().(*singleScratch)
	x.s.Left = -1
	ctx := context.Background()
	var e *rimewatch.Error
	if x.p, e = g.sender(ctx, &x.Request, x.At); e == nil {
		_, x.who, e = g.read(ctx, &x.p, x.At, x.Request.Body, &x.s.Scratch)
		if e == nil && x.who == nil {
			x.alone, x.done = true, true
			g.single.Put(x.s)
			return
		}
	}
	var in store.Input
	if e == nil {
		e = g.admit(x.who, x.At, &x.s.Scratch, &in)
	}
	if e != nil {
		x.done = true
		g.answerPost(&x.Answer, x.id, x.s, 0, e)
		return
	}
	if in.AtArrival {
		in.Reading.ReceivedAt = x.At
	}
	*inputs = append(*inputs, in)
}

// guard has a panic cost one answer.
func (g *Readings) guard(x *Posted) {
	if v := recover(); v != nil {
		x.done = true
		g.postPanicked(&x.Answer, x.id, v)
	}
}

// commit stores the inputs of those that have no answer yet, and answers them. It
// reports whether the memory of the inputs may be used again.
func (g *Readings) commit(list []Posted, inputs []store.Input, again bool) bool {
	ctx := store.WithArrival(context.Background(), store.Arrival{At: list[0].At, Again: again})
	var vitals []store.Vitals
	for i := range list {
		if x := &list[i]; !x.done {
			vitals = append(vitals, x.s.beside(x.who)...)
		}
	}
	failed := g.submit(ctx, inputs, vitals)
	n := 0
	for i := range list {
		x := &list[i]
		if x.done {
			continue
		}
		g.conclude(ctx, x, &inputs[n], failed)
		n++
	}
	return failed == nil
}

// submit is Writer.Submit; a panic is an error.
func (g *Readings) submit(ctx context.Context, inputs []store.Input, vitals []store.Vitals) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = rimewatch.Wrap(rimewatch.CodeInternal, fmt.Errorf("panic: %v\n%s", v, debug.Stack()), "Internal error.")
		}
	}()
	return g.Writer.Submit(ctx, inputs, vitals)
}

// conclude answers a request whose input was committed, or was not.
func (g *Readings) conclude(ctx context.Context, x *Posted, in *store.Input, failed error) {
	defer g.guard(x)
	var status int
	var e *rimewatch.Error
	if failed != nil {
		e = httpapi.AsError(failed)
	} else {
		status, e = g.answer(ctx, x.who, in, &x.s.Scratch)
	}
	x.done = true
	g.answerPost(&x.Answer, x.id, x.s, status, e)
}
