package app

import "runtime"

// connectionLimit returns how many connections of clients may be open where the
// process may have so many descriptors, so that the rest is left for the store
// (two files for each of its connections, of which there are two a core and a few
// more), for messages, sources and commands; 0 = no limit.
func connectionLimit(descriptors int) int {
	if descriptors == 0 {
		return 0
	}
	return max(descriptors/2, descriptors-(256+4*runtime.NumCPU()))
}
