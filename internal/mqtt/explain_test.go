package mqtt

import (
	"errors"
	"testing"

	"github.com/rimewatch/rimewatch/internal/catalogue"
)

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
