// Package policies holds the documents for the public that ship with the
// service: Markdown files with a small header, in a folder each for languages other
// than English. An operator's folder may replace each of them.
package policies

import "embed"

// Files are the shipped documents, one Markdown file each, named by slug; those of another language in
// the folder named by its tag.
//
//go:embed *.md */*.md
var Files embed.FS
