// Package webui serves the web UI that is built into the binary.
//
// The UI's sources are in web/; `make build` puts what Vite makes of them into
// dist, which is embedded and not committed. A plain `go build` without Node
// finds dist empty: then the page in fallback says how to get the UI.
//
// Names under assets carry a hash of their content and may be kept for ever;
// everything else is asked for again each time. Files come compressed from the
// build (.br and .gz), so nothing is compressed here; the plain form of a file that
// shrinks is not built in. A path that is no file is the UI's own address when a
// browser asks for a page.
//
// The content security policy allows nothing inline and nothing from elsewhere:
// a device's name can never become a script.
package webui
