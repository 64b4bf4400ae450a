package source

import (
	"bytes"
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/inlet"
	"github.com/rimewatch/rimewatch/internal/store"
)

// ReceiveLines stores Influx line protocol, as Receive does a payload. Bad lines
// are counted as rejected. A sender that waits is kept with its own lines alone.
func (s *Service) ReceiveLines(ctx context.Context, l *Live, body []byte, precision string) (Outcome, error) {
	o, err := s.receiveLines(ctx, l, body, precision)
	if err == nil {
		err = o.err()
	}
	s.count(&l.source, &o, err)
	return o, err
}

func (s *Service) receiveLines(ctx context.Context, l *Live, body []byte, precision string) (o Outcome, err error) {
	o = newOutcome()
	now := store.ArrivedAt(ctx, s.cfg.Now())
	b := s.batch(l, now)
	const most = 4096
	n := min(bytes.Count(body, []byte{'\n'})+1, most)
	b.inputs, b.at, b.linewise = make([]store.Input, 0, n), make(map[momentKey]int, n), true
	kept := make(map[string][]byte)
	if err := s.eachLine(ctx, l, body, precision, b, &o, kept); err != nil {
		return o, err
	}
	err = s.store(ctx, l, []*batch{b}, func(_ int, id string) *rimewatch.Held {
		return &rimewatch.Held{ReceivedAt: now, Topic: linesTopic, Query: precision, Body: kept[id]}
	})
	if err == nil {
		b.finish(&o)
	}
	return o, err
}

// linesTopic marks payloads that wait as lines; no topic begins so.
const linesTopic = "$lines"

// eachLine reads the lines into the batch, and keeps those of senders that wait.
func (s *Service) eachLine(ctx context.Context, l *Live, body []byte, precision string, b *batch, o *Outcome, kept map[string][]byte) error {
	reader, _ := l.lines.Get().(*inlet.LineReader)
	if reader == nil {
		reader = new(inlet.LineReader)
	}
	defer l.lines.Put(reader)
	n, err := reader.Read(body, precision, s.bound(l), func(items []inlet.Item, line []byte) {
		b.all(ctx, items, o)
		for i := range items {
			if id := nameOf(&items[i]); b.held[id] != nil {
				kept[id] = append(append(kept[id], bytes.TrimSpace(line)...), '\n')
			}
		}
	})
	if err != nil {
		return err
	}
	o.Rejected += n.Bad
	if n.Problem != "" {
		o.problem("%s", rimewatch.SentenceOf(n.Problem))
	}
	return nil
}
