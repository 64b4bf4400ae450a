package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by the linker in releases: -X main.version=v1.2.3.
var version string

// versionName is the version alone.
func versionName() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

// versionText returns the version with its revision and platform.
func versionText() string {
	revision, dirty := "", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				revision = "commit " + s.Value[:min(12, len(s.Value))]
			case s.Key == "vcs.modified" && s.Value == "true":
				dirty = " with changes"
			}
		}
	}
	if revision != "" {
		revision += dirty + ", "
	}
	return fmt.Sprintf("rimewatch %s (%s%s, %s/%s)", versionName(), revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
