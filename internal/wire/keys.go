package wire

import "github.com/rimewatch/rimewatch"

// The keys of a reading, in the order in which the API documents them: the
// serial, the core measurements, the time, the observations, the optional
// measurements. A key's place is its bit in keySet.
const (
	keySerial        = 0
	keyFirstCore     = 1
	keyRecordedAt    = keyFirstCore + int(rimewatch.NumCore)
	keyFirstFlag     = keyRecordedAt + 1
	keyFirstOptional = keyFirstFlag + int(rimewatch.NumFlags)
	numKeys          = keyFirstOptional + int(rimewatch.MaxFields-rimewatch.NumCore)
)

type keySet uint64

// keyNames are the keys by their places; numbers of measurements that are free
// have none.
var keyNames = func() (names [numKeys]string) {
	names[keySerial], names[keyRecordedAt] = "device_serial", "recorded_at"
	for x := range rimewatch.NumFlags {
		names[keyFirstFlag+int(x)] = x.String()
	}
	for f := range rimewatch.AllFields.All() {
		if f.Core() {
			names[keyFirstCore+int(f)] = f.String()
		} else {
			names[keyFirstOptional+int(f-rimewatch.NumCore)] = f.String()
		}
	}
	return names
}()

// readingKeys are the keys as they stand in a compact document. What has no name
// is a text with which no key begins.
var readingKeys = func() (keys [numKeys]string) {
	for key, name := range keyNames {
		keys[key] = "\x00"
		if name != "" {
			keys[key] = `"` + name + `":`
		}
	}
	return keys
}()

// longestKey is the most bytes that a key has.
const longestKey = 31

// keysByLength are the places of the keys that have so many bytes.
var keysByLength = func() (places [longestKey + 1][]uint8) {
	for key, name := range keyNames {
		if name != "" {
			places[len(name)] = append(places[len(name)], uint8(key))
		}
	}
	return places
}()

// keyByName finds a key by its exact name, -1 when there is none.
func keyByName(name []byte) int {
	if len(name) <= longestKey {
		for _, key := range keysByLength[len(name)] {
			if keyNames[key] == string(name) {
				return int(key)
			}
		}
	}
	return -1
}

// MaxCount bounds the integers that clients send: what a float64 holds exactly,
// since JSON readers use those.
const MaxCount = 1<<53 - 1

type fieldRange struct {
	min, max float64
	whole    bool
}

// fieldRanges repeats the accepted ranges in a form without strings, for the hot
// path.
var fieldRanges = func() (r [rimewatch.MaxFields]fieldRange) {
	for f := range rimewatch.AllFields.All() {
		info := f.Info()
		r[f] = fieldRange{info.Min, info.Max, info.Whole}
	}
	return r
}()
