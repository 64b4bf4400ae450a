// Package ticket makes the secret part of a link's or callback's address: numbers that
// the service has signed. Whoever has none cannot make one, every node of a cluster
// can check it, and nothing is stored.
package ticket

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
)

const (
	macSize = 16  // bytes
	most    = 128 // numbers in a ticket
)

// Encode returns numbers, signed and fit for a URL. The same numbers make the same ticket.
func Encode(key []byte, numbers ...int64) string {
	var b []byte
	for _, n := range numbers {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return base64.RawURLEncoding.EncodeToString(append(b, mac(key, b)...))
}

func mac(key, b []byte) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = h.Write(b)
	return h.Sum(nil)[:macSize]
}

// Parse returns the numbers of a ticket that was made with the key. Whether it has expired
// is for the caller to judge.
func Parse(key []byte, text string) (numbers []int64, ok bool) {
	b, sum, ok := split(text)
	if !ok || subtle.ConstantTimeCompare(mac(key, b), sum) != 1 {
		return nil, false
	}
	return decode(b)
}

// Claimed returns the n-th number of a ticket that nobody has verified, 0 when there is none:
// enough to find the node that can verify it.
func Claimed(text string, n int) int64 {
	b, _, _ := split(text)
	numbers, ok := decode(b)
	if !ok || n >= len(numbers) {
		return 0
	}
	return max(numbers[n], 0)
}

func split(text string) (b, sum []byte, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) <= macSize {
		return nil, nil, false
	}
	n := len(b) - macSize
	return b[:n], b[n:], true
}

func decode(b []byte) (numbers []int64, ok bool) {
	for len(b) > 0 {
		v, n := binary.Uvarint(b)
		if n <= 0 || len(numbers) == most {
			return nil, false
		}
		numbers, b = append(numbers, int64(v)), b[n:]
	}
	return numbers, true
}
