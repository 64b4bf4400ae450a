package core

import (
	"encoding/binary"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// withSum appends the CRC-32C of what the disk is given to keep. Rows of the log
// and chunks have one of their own.
func withSum(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// cutSum returns what withSum was given; false when it is damaged.
func cutSum(b []byte) ([]byte, bool) {
	n := len(b) - 4
	if n < 0 || binary.LittleEndian.Uint32(b[n:]) != crc32.Checksum(b[:n], castagnoli) {
		return nil, false
	}
	return b[:n:n], true
}
