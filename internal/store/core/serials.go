package core

import (
	"hash/maphash"
	"math/bits"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/prefetch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// serials finds devices by the key of their serial. Where it looks is known from the
// hash alone, unlike in a map of Go's, so that all that a batch needs can be asked for
// in memory first: there devices lie in no order. The zero value is empty.
type serials struct {
	slots []serialSlot // a power of two, of which at least a quarter is empty; one is looked for from its hash on
	n     int
}

type serialSlot struct {
	hash uint64
	who  *store.Identity // nil = empty
}

var serialSeed = maphash.MakeSeed()

// serialKey writes the key of a serial to buf and hashes it; false when no device can
// have such a serial.
func serialKey(serial []byte, buf *[rimewatch.MaxSerialLen]byte) (key []byte, hash uint64, ok bool) {
	if len(serial) > len(buf) {
		return nil, 0, false
	}
	for i, c := range serial {
		buf[i] = lowerByte(c)
	}
	key = buf[:len(serial)]
	return key, maphash.Bytes(serialSeed, key), true
}

// at returns where a hash is looked for first.
func (t *serials) at(hash uint64) int { return int(hash >> (64 - bits.Len(uint(len(t.slots)-1)))) }

// next returns the slot after the i-th.
func (t *serials) next(i int) int { return (i + 1) & (len(t.slots) - 1) }

// get returns the device of a key, nil = none.
func (t *serials) get(key []byte, hash uint64) *store.Identity {
	if t.n == 0 {
		return nil
	}
	for i := t.at(hash); t.slots[i].who != nil; i = t.next(i) {
		if s := &t.slots[i]; s.hash == hash && s.who.Key == string(key) {
			return s.who
		}
	}
	return nil
}

// put makes who the one with its key.
func (t *serials) put(who *store.Identity) {
	if 4*(t.n+1) > 3*len(t.slots) {
		t.grow(max(16, 2*len(t.slots)))
	}
	hash := maphash.String(serialSeed, who.Key)
	i := t.at(hash)
	for ; t.slots[i].who != nil; i = t.next(i) {
		if s := &t.slots[i]; s.hash == hash && s.who.Key == who.Key {
			s.who = who
			return
		}
	}
	t.slots[i] = serialSlot{hash, who}
	t.n++
}

// reserve makes room for n at once.
func (t *serials) reserve(n int) {
	if size := 1 << bits.Len(uint(max(16, n*4/3))); size > len(t.slots) {
		t.grow(size)
	}
}

func (t *serials) grow(size int) {
	old := t.slots
	t.slots = make([]serialSlot, size)
	for _, s := range old {
		if s.who == nil {
			continue
		}
		i := t.at(s.hash)
		for t.slots[i].who != nil {
			i = t.next(i)
		}
		t.slots[i] = s
	}
}

// remove takes a key out. Those behind it that were looked for from its slot, or from
// before it, move up.
func (t *serials) remove(key string) {
	if t.n == 0 {
		return
	}
	hash := maphash.String(serialSeed, key)
	i := t.at(hash)
	for ; t.slots[i].hash != hash || t.slots[i].who == nil || t.slots[i].who.Key != key; i = t.next(i) {
		if t.slots[i].who == nil {
			return
		}
	}
	mask := len(t.slots) - 1
	for k := t.next(i); t.slots[k].who != nil; k = t.next(k) {
		if home := t.at(t.slots[k].hash); (k-home)&mask >= (k-i)&mask {
			t.slots[i] = t.slots[k]
			i = k
		}
	}
	t.slots[i] = serialSlot{}
	t.n--
}

// identifyAtOnce is how many devices are looked up side by side: the memory that is prefetched for
// them in memory fits into the processor's nearest cache.
const identifyAtOnce = 64

// identify looks for as many devices, at most identifyAtOnce, in rounds: each asks for
// what the next one reads.
func (t *serials) identify(serials [][]byte, who []*store.Identity) {
	var hashes [identifyAtOnce]uint64
	var buf [rimewatch.MaxSerialLen]byte
	clear(who)
	if t.n == 0 {
		return
	}
	for i, serial := range serials {
		_, hash, _ := serialKey(serial, &buf)
		hashes[i] = hash
		prefetch.Of(&t.slots[t.at(hash)])
	}
	for i := range serials {
		for k := t.at(hashes[i]); t.slots[k].who != nil; k = t.next(k) {
			if t.slots[k].hash == hashes[i] {
				who[i] = t.slots[k].who
				prefetch.Of(who[i])
				break
			}
		}
	}
	for _, w := range who {
		if w != nil {
			prefetch.Text(w.Key)
		}
	}
	for i, serial := range serials {
		if who[i] == nil {
			continue
		}
		if key, hash, ok := serialKey(serial, &buf); !ok {
			who[i] = nil
		} else if who[i].Key != string(key) { // another one with this hash
			who[i] = t.get(key, hash)
		}
	}
}

// Identify implements store.Fleet.
func (s *Core) Identify(workspaceID int64, serial []byte) *store.Identity {
	var buf [rimewatch.MaxSerialLen]byte
	key, hash, ok := serialKey(serial, &buf)
	if !ok {
		return nil
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if r := s.fleet.workspaces[workspaceID]; r != nil {
		return r.bySerial.get(key, hash)
	}
	return nil
}

// IdentifyAll implements store.Fleet.
func (s *Core) IdentifyAll(workspaceID int64, serials [][]byte, who []*store.Identity) {
	for len(serials) > 0 {
		n := min(len(serials), identifyAtOnce)
		s.mu.RLock()
		if r := s.fleet.workspaces[workspaceID]; r != nil {
			r.bySerial.identify(serials[:n], who[:n])
		} else {
			clear(who[:n])
		}
		s.mu.RUnlock()
		serials, who = serials[n:], who[n:]
	}
}
