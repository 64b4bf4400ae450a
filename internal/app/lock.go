package app

// Lock keeps servers out of a data directory until release is called, for
// commands that replace what is in it. It fails while a server uses it.
func Lock(dir string) (release func(), err error) { return lock(dir) }
