package httpapi

import (
	"mime"
	"strconv"
	"strings"
)

// Preferred returns which of the media types that are on offer an Accept header
// wants most (RFC 9110, 12.5.1), the first when it does not say: by its quality,
// then by the order in which it lists them. */* wants the first.
func Preferred(accept string, offered ...string) string {
	best, most := offered[0], 0.0
	for part := range strings.SplitSeq(accept, ",") {
		kind, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		quality := 1.0
		if q, ok := params["q"]; ok {
			if quality, err = strconv.ParseFloat(q, 64); err != nil {
				continue
			}
		}
		for i, one := range offered {
			if quality > most && (kind == one || i == 0 && kind == "*/*") {
				best, most = one, quality
			}
		}
	}
	return best
}
