package httpapi

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"

	"github.com/rimewatch/rimewatch"
)

// CursorKind is the list that a cursor belongs to. It is part of the cursor.
type CursorKind byte

// The lists that page by cursor.
const (
	CursorDevices     CursorKind = 'd'
	CursorAlerts      CursorKind = 'a'
	CursorHistory     CursorKind = 'h'
	CursorHistoryDown CursorKind = 'H'
	CursorAudit       CursorKind = 'u'
	CursorDeliveries  CursorKind = 'n'
	CursorResource    CursorKind = 'r'
	CursorEvents      CursorKind = 'e'
	CursorHistories   CursorKind = 'm'
	CursorCases       CursorKind = 'c'
	CursorChecks      CursorKind = 'k'
)

// CursorCodec writes places in lists as opaque text: a version, the kind, two
// integers, and an HMAC over them and the owner (workspace or device), so that
// a cursor works only where it was given out.
type CursorCodec struct{ Key [32]byte }

const (
	cursorVersion = 1
	cursorMACLen  = 8
	maxCursorLen  = 64
)

// Encode writes the place (a, b) in the owner's list.
func (c *CursorCodec) Encode(kind CursorKind, owner, a, b int64) string {
	buf := make([]byte, 0, 2+2*binary.MaxVarintLen64+cursorMACLen)
	buf = append(buf, cursorVersion, byte(kind))
	buf = binary.AppendVarint(buf, a)
	buf = binary.AppendVarint(buf, b)
	return base64.RawURLEncoding.EncodeToString(append(buf, c.mac(buf, owner)...))
}

func (c *CursorCodec) mac(payload []byte, owner int64) []byte {
	m := hmac.New(sha256.New, c.Key[:])
	_, _ = m.Write(payload)
	_, _ = m.Write(binary.LittleEndian.AppendUint64(nil, uint64(owner)))
	return m.Sum(nil)[:cursorMACLen]
}

// Decode reads a cursor: CodeValidationFailed on cursor when it is not one that
// encode gave out for this list.
func (c *CursorCodec) Decode(kind CursorKind, owner int64, s string) (a, b int64, e *rimewatch.Error) {
	invalid := func() (int64, int64, *rimewatch.Error) {
		return 0, 0, rimewatch.Invalid("cursor", "is not a cursor of this list")
	}
	if len(s) > maxCursorLen {
		return invalid()
	}
	buf, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(buf) < 2+2+cursorMACLen {
		return invalid()
	}
	payload, mac := buf[:len(buf)-cursorMACLen], buf[len(buf)-cursorMACLen:]
	if subtle.ConstantTimeCompare(mac, c.mac(payload, owner)) != 1 || payload[0] != cursorVersion || payload[1] != byte(kind) {
		return invalid()
	}
	a, n := binary.Varint(payload[2:])
	if n <= 0 {
		return invalid()
	}
	b, m := binary.Varint(payload[2+n:])
	if m <= 0 || 2+n+m != len(payload) {
		return invalid()
	}
	return a, b, nil
}
