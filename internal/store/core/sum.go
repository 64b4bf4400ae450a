package core

import (
	"encoding/binary"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum is the CRC-32C of bytes and of the place that they belong to: a row that
// has come into the place of another is as damaged as one whose bytes have
// changed.
func sum(b []byte, place ...int64) uint32 {
	crc := crc32.Checksum(b, castagnoli)
	for _, v := range place {
		crc = crc32.Update(crc, castagnoli, binary.LittleEndian.AppendUint64(nil, uint64(v)))
	}
	return crc
}

// withSum appends the checksum of bytes that the disk keeps.
func withSum(b []byte, place ...int64) []byte {
	return binary.LittleEndian.AppendUint32(b, sum(b, place...))
}

// cutSum returns the bytes that withSum was given; false when they are damaged or belong to
// another place.
func cutSum(b []byte, place ...int64) ([]byte, bool) {
	n := len(b) - 4
	if n < 0 || binary.LittleEndian.Uint32(b[n:]) != sum(b[:n], place...) {
		return nil, false
	}
	return b[:n:n], true
}
