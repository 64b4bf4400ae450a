// Package docs holds the guides and the reference that ship with the service: the Markdown files of this
// folder, as they are read in the repository. Pictures are left out, since they would weigh more than all text,
// and so are the decisions in adr, which are for those who change the code.
package docs

import "embed"

// Files are the pages; those named README.md are the first of their folder.
//
//go:embed *.md guides/*.md
var Files embed.FS
