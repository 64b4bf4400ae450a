package core

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch/internal/store"
	_ "github.com/rimewatch/rimewatch/internal/trial"
)

// TestSerials: against a map, with what is looked for one by one and side by side.
func TestSerials(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table serials
		model := make(map[string]*store.Identity)
		key := rapid.Custom(func(t *rapid.T) string { return fmt.Sprintf("d%d", rapid.IntRange(0, 60).Draw(t, "n")) })
		if rapid.Bool().Draw(t, "reserve") {
			table.reserve(40)
		}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			k := key.Draw(t, "key")
			if rapid.IntRange(0, 2).Draw(t, "what") > 0 {
				who := &store.Identity{Key: k}
				table.put(who)
				model[k] = who
			} else {
				table.remove(k)
				delete(model, k)
			}
			if table.n != len(model) || table.n > 0 && 4*table.n > 3*len(table.slots) {
				t.Fatalf("%d devices in %d slots, want %d", table.n, len(table.slots), len(model))
			}
		}
		looked := make([][]byte, identifyAtOnce)
		who := make([]*store.Identity, len(looked))
		for i := range looked {
			looked[i] = []byte(strings.ToUpper(fmt.Sprintf("d%d", i)))
			who[i] = &store.Identity{} // what was there before says nothing
		}
		looked[7] = bytes.Repeat([]byte("d"), 65)
		table.identify(looked, who)
		for i, serial := range looked {
			want := model[strings.ToLower(string(serial))]
			if i == 7 {
				want = nil
			}
			if who[i] != want {
				t.Fatalf("%s is %v, want %v", serial, who[i], want)
			}
			var buf [64]byte
			if k, hash, ok := serialKey(serial, &buf); ok != (i != 7) || ok && table.get(k, hash) != want {
				t.Fatalf("%s alone is not %v", serial, want)
			}
		}
	})
}

// TestSerialsOfOneHash: two devices whose keys have one hash are told apart.
func TestSerialsOfOneHash(t *testing.T) {
	a, b := &store.Identity{Key: "a"}, &store.Identity{Key: "b"}
	var table serials
	table.put(b)
	var buf [64]byte
	_, hash, _ := serialKey([]byte("b"), &buf)
	at := table.at(hash)
	table.slots[at], table.slots[table.next(at)] = serialSlot{hash, a}, serialSlot{hash, b}
	who := make([]*store.Identity, 1)
	table.identify([][]byte{[]byte("B")}, who)
	if who[0] != b {
		t.Errorf("b is %v", who[0])
	}
}
