package shortpath

import (
	"encoding/binary"
	"errors"
)

// errBroken is of what Append did not make.
var errBroken = errors.New("a request or an answer breaks off")

// Append appends a request as another server takes it in.
func (q *Request) Append(b []byte) []byte {
	b = appendField(b, q.Token)
	b = appendField(b, q.ID)
	b = appendField(b, q.ForwardedFor)
	b = appendField(b, q.Remote.String())
	return appendField(b, q.Body)
}

// Decode is the opposite of Append. What is in bytes points into b.
func (q *Request) Decode(b []byte) error {
	var fields [5][]byte
	if err := splitFields(b, fields[:]); err != nil {
		return err
	}
	*q = Request{Token: q.Token, Body: fields[4], sent: fields[3]}
	q.Remote = &q.sent
	if string(fields[0]) != q.Token { // devices send the same one each time
		q.Token = string(fields[0])
	}
	if len(fields[1]) > 0 {
		q.ID = fields[1]
	}
	if len(fields[2]) > 0 {
		q.ForwardedFor = fields[2]
	}
	return nil
}

// Append appends an answer as another server takes it in.
func (a *Answer) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(a.Status)) //nolint:gosec // 100 to 599
	return appendField(appendField(b, a.head), a.Body)
}

// Decode is the opposite of Append. Close is left as it is.
func (a *Answer) Decode(b []byte) error {
	status, n := binary.Uvarint(b)
	var fields [2][]byte
	if n <= 0 || status < 100 || status > 599 {
		return errBroken
	}
	if err := splitFields(b[n:], fields[:]); err != nil {
		return err
	}
	a.Status, a.head, a.Body = int(status), append(a.head[:0], fields[0]...), append(a.Body[:0], fields[1]...)
	return nil
}

func appendField[T string | []byte](b []byte, field T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(field))), field...)
}

func splitFields(b []byte, fields [][]byte) error {
	for i := range fields {
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return errBroken
		}
		fields[i], b = b[n:n+int(size)], b[n+int(size):] //nolint:gosec // no more than there is
	}
	if len(b) > 0 {
		return errBroken
	}
	return nil
}

// address is a client's, as another server has seen it.
type address []byte

// Network implements net.Addr.
func (*address) Network() string { return "tcp" }

// String implements net.Addr.
func (a *address) String() string { return string(*a) }
