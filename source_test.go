package rimewatch

import "testing"

// TestSenderKey: one hardware address is one sender, however it is written, and other names
// are what they are.
func TestSenderKey(t *testing.T) {
	push, api := Source{Kind: SourcePush}, Source{Kind: SourceAPI}
	for _, same := range [][]string{
		{"24e124136b502217", "24E124136B502217", "24-e1-24-13-6b-50-22-17", "24:E1:24:13:6B:50:22:17", "JOEkE2tQIhc="},
		{"24e124136b502217/probe/2", "24E124136B502217/probe/2", "JOEkE2tQIhc=/probe/2"},
		{"aabbccddeeff", "AA:BB:CC:DD:EE:FF", "aa-bb-cc-dd-ee-ff"},
	} {
		for _, id := range same {
			if got := push.SenderKey(id); got != same[0] {
				t.Errorf("%s: %s, want %s", id, got, same[0])
			}
		}
	}
	for _, id := range []string{"", "Probe", "probe", "24E1", "24E124136B502217/A", "freezer-0001", "AAAAAAAAAAA=x", "Kühlhaus-0001", "A:B:C:D:E:F", "/A"} {
		if got := push.SenderKey(id); got != id && id != "24E124136B502217/A" {
			t.Errorf("%s became %s", id, got)
		}
	}
	if a, b := push.SenderKey("24E124136B502217/A"), push.SenderKey("24E124136B502217/a"); a == b {
		t.Errorf("two sensors are %s", a)
	}
	if got := api.SenderKey("Probe-1"); got != SerialKey("Probe-1") {
		t.Errorf("a serial: %s", got)
	}
}
