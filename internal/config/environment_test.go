package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch/internal/config"
)

func TestCheckEnvironment(t *testing.T) {
	known := map[string]bool{}
	for name := range strings.FieldsSeq("DATA LISTEN TLS_CERT TLS_KEY SMTP_HOST SMTP_PORT SMTP_FROM MQTT_LISTEN MQTTS_LISTEN PUBLIC_URL TOKEN DEVICES SITES URL") {
		known["RIMEWATCH_"+name] = true
	}
	for entry, want := range map[string]string{
		// Names that are known, or not ours.
		"RIMEWATCH_LISTEN=:80": "", "RIMEWATCH_MQTT_LISTEN=:1883": "", "PATH=/bin": "", "RIMEWATCH_=1": "", "RIMEWATCHER=1": "", "=C:=x": "",
		// Kubernetes injects these.
		"RIMEWATCH_SERVICE_HOST=10.0.0.1": "", "RIMEWATCH_SERVICE_PORT=80": "", "RIMEWATCH_SERVICE_PORT_HTTP=80": "", "RIMEWATCH_PORT=tcp://10.0.0.1:80": "",
		"RIMEWATCH_PORT_80_TCP=tcp://10.0.0.1:80": "", "RIMEWATCH_PORT_80_TCP_ADDR=10.0.0.1": "", "RIMEWATCH_NODES_PORT_8090_TCP_PROTO=tcp": "", "RIMEWATCH_SMPT_PORT=tcp://10.0.0.1:25": "",
		// Near misses.
		"RIMEWATCH_TLSCERT=x": "!RIMEWATCH_TLS_CERT", "RIMEWATCH_LISTNE=x": "!RIMEWATCH_LISTEN", "rimewatch_data=x": "!RIMEWATCH_DATA", "RIMEWATCH_SMPT_PORT=25": "!RIMEWATCH_SMTP_PORT",
		"RIMEWATCH_MQTTLISTEN=x": "!RIMEWATCH_MQTT_LISTEN", "RIMEWATCH_PUBLIC_URI=x": "!RIMEWATCH_PUBLIC_URL", "RIMEWATCH_DATE=x": "!RIMEWATCH_DATA",
		// Everything else is only mentioned.
		"RIMEWATCH_MAIL_FROM=x": "?", "RIMEWATCH_TESTS=all": "?", "RIMEWATCH_IMAGE=x": "?", "RIMEWATCH_VERSION=1": "?", "RIMEWATCH_PORT=80": "?", "RIMEWATCH_URN=x": "?",
	} {
		unknown, err := config.CheckEnvironment([]string{"HOME=/", entry}, known)
		name, _, _ := strings.Cut(entry, "=")
		switch {
		case want == "" && (err != nil || unknown != nil), want == "?" && (err != nil || !slices.Equal(unknown, []string{name})):
			t.Errorf("%s: %v, %v", entry, unknown, err)
		case strings.HasPrefix(want, "!") && (err == nil || !strings.Contains(err.Error(), name+",") || !strings.HasSuffix(err.Error(), "did you mean "+want[1:]+"?")):
			t.Errorf("%s: %v, %v, want an error that names %s", entry, unknown, err, want[1:])
		}
	}
}
