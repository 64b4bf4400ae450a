// Package manual serves the guides and the reference to browsers and programs: the Markdown of package docs
// as pages under /docs, with a search, and as it was written under the same address with .md behind it. Beside them
// stand /llms.txt, which lists them for programs that read, and /.well-known/security.txt.
//
// The same files are read in the repository. So links between them are rewritten here, those that lead out of what is
// served go to the repository, and headings have the anchors that GitHub gives them: errors lead to one of these, and
// so does every page of the web UI.
package manual
