package inlet

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strings"
)

// ruuvi5 decodes the data of a RuuviTag, in hexadecimal: an advertisement with
// data format 5 (RAWv2, docs.ruuvi.com/communication/bluetooth-advertisements),
// or that format alone. Measurements that the tag marks as not available are
// left out. It is the one decoder that templates can call, because the gateway
// forwards advertisements as they are.
func ruuvi5(params ...any) (any, error) {
	if len(params) != 1 {
		return nil, fail("ruuvi5 takes one text")
	}
	text, _ := params[0].(string)
	const manufacturer = "ff990405" // manufacturer's data of Ruuvi (0x0499), format 5
	if i := strings.Index(strings.ToLower(text), manufacturer); i >= 0 {
		text = text[i+len(manufacturer)-2:]
	}
	b, err := hex.DecodeString(text[:min(len(text), 48)])
	if err != nil || len(b) < 18 || b[0] != 5 {
		return nil, fail("is not in data format 5")
	}
	out := map[string]any{}
	if v := int16(binary.BigEndian.Uint16(b[1:])); v != math.MinInt16 {
		out["temperature"] = float64(v) * 5 / 1000
	}
	if v := binary.BigEndian.Uint16(b[3:]); v != math.MaxUint16 {
		out["humidity"] = math.Round(float64(v)*2.5) / 1000
	}
	if v := binary.BigEndian.Uint16(b[5:]); v != math.MaxUint16 {
		out["pressure_pa"] = float64(v) + 50_000
	}
	if v := binary.BigEndian.Uint16(b[13:]) >> 5; v != 0x7ff {
		out["battery_v"] = float64(1600+int(v)) / 1000
	}
	return out, nil
}
