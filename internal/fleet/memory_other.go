//go:build !linux

package fleet

func largePages([]byte) {}
