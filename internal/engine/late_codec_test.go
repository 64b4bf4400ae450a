package engine_test

import (
	"encoding/binary"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
)

// TestStateOfOneSender: a state of before a device could have several senders is read: what
// was known of its clock holds.
func TestStateOfOneSender(t *testing.T) {
	s := newSlow()
	for now := t0; now < t0+20*rimewatch.Minute; now += rimewatch.Minute {
		s.send(now, rimewatch.Hour, 3)
	}
	now := s.slow.AppendBinary(nil)
	end := 1
	for range 6 {
		end += 2 + int(binary.LittleEndian.Uint16(now[end:]))
	}
	for range 4 {
		_, n := binary.Varint(now[end:])
		end += n
	}
	old := append([]byte{6}, now[1:end]...)
	var got engine.State
	if err := got.UnmarshalBinary(old); err != nil {
		t.Fatal(err)
	}
	if got.Behind() != rimewatch.Hour {
		t.Errorf("behind by %v, want an hour", got.Behind())
	}
	if err := new(engine.State).UnmarshalBinary(append(old, 0)); err == nil {
		t.Error("took what does not belong to it")
	}
}
