package mqtt

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch/internal/catalogue"
	"github.com/rimewatch/rimewatch/internal/notify/outbound"
)

// TestExplainNoAddress: what a name resolves to in the operator's network is the operator's.
func TestExplainNoAddress(t *testing.T) {
	err := fmt.Errorf("dial: %w", &outbound.Refused{Address: netip.MustParseAddr("10.1.2.3")})
	if got := explain(err).String(); strings.Contains(got, "10.1.2.3") || !strings.Contains(got, "not public") {
		t.Error(got)
	}
}

// TestExplainInSpanish: a broker's no is a text of the catalogue, whatever its number.
func TestExplainInSpanish(t *testing.T) {
	say := catalogue.Of("es").Say
	for code := range byte(7) {
		err := &Refused{code}
		if got := explain(err); got.String() != err.Error() || got.In(say) == got.String() {
			t.Errorf("%d: %s", code, got.In(say))
		}
	}
	if got := explain(notBroker{errors.New("bad packet")}).In(say); got != "El servidor que hay allí no es un bróker MQTT: bad packet." {
		t.Error(got)
	}
}
