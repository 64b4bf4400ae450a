package fleet

import (
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
)

// TestPayloads: every payload starts with its version; one of another version
// says nothing, rather than something else.
func TestPayloads(t *testing.T) {
	level := 70.5
	beat := EncodeHeartbeat(&rimewatch.Heartbeat{Offline: true, BatteryPct: &level})
	config := (&Configuration{Type: "walkin_freezer", IntervalS: 60}).Encode()
	feedback, err := Judgement{Verdict: rimewatch.Fixed}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"heartbeat": beat, "configuration": config, "feedback": feedback} {
		if len(b) < 2 || b[0] != payloadVersion {
			t.Errorf("%s is kept as %q", name, b)
		}
	}
	if hb := decodeHeartbeat(beat); !hb.Offline || hb.BatteryPct == nil || *hb.BatteryPct != level {
		t.Errorf("heartbeat: %+v", hb)
	}
	if j := decodeFeedback(feedback); j.Kind != engine.Feedback || j.Verdict != rimewatch.Fixed {
		t.Errorf("feedback: %+v", j)
	}
	var c Configuration
	if decodePayload(config, &c); c.Type != "walkin_freezer" || c.IntervalS != 60 {
		t.Errorf("configuration: %+v", c)
	}
	beat[0]++
	if hb := decodeHeartbeat(beat); hb != (heartbeat{}) {
		t.Errorf("a heartbeat of another version: %+v", hb)
	}
}
