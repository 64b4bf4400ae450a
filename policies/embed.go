// Package policies holds the documents for the public that ship with the
// service: Markdown files with a small header. An operator's folder may replace
// each of them.
package policies

import "embed"

// Files are the shipped documents, one Markdown file each, named by slug.
//
//go:embed *.md
var Files embed.FS
