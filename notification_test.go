package rimewatch

import "testing"

func TestMaskedURL(t *testing.T) {
	for _, c := range []struct {
		kind      ChannelKind
		url, want string
	}{
		{ChannelEmail, "", ""},
		{ChannelWebhook, "https://hooks.example.com:8443/a/b?key=1", "https://hooks.example.com:8443/•••"},
		{ChannelWebhook, "http://[::1]:80", "http://[::1]:80/•••"},
		{ChannelService, "slack://token-a/token-b/token-c", "slack://•••"},
		{ChannelService, "generic+https://example.com/secret", "generic+https://•••"},
		{ChannelWebhook, "https://bad host/secret", "https://•••"},
	} {
		if got := (&Channel{Kind: c.kind, URL: c.url}).MaskedURL(); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.kind, c.url, got, c.want)
		}
	}
}

func TestWorking(t *testing.T) {
	for _, c := range []struct {
		health       ChannelHealth
		works, tried bool
	}{
		{ChannelHealth{}, false, false},
		{ChannelHealth{LastSuccessAt: 5}, true, true},
		{ChannelHealth{LastFailureAt: 5, Failures: 1}, false, true},
		{ChannelHealth{LastSuccessAt: 5, LastFailureAt: 9, Failures: 2}, false, true},
		{ChannelHealth{LastSuccessAt: 12, LastFailureAt: 9, LastError: "old"}, true, true},
	} {
		if works, tried := c.health.Working(); works != c.works || tried != c.tried {
			t.Errorf("%+v: %v %v", c.health, works, tried)
		}
	}
}
