// Package apply makes a workspace what a file in YAML says, over the API, and writes that
// file. It knows of the API's resources their paths, their names and how they name each
// other: their members are the API's own, which checks them.
//
// A Plan is made of the file and of what the server has. It is the difference: a second
// plan after Run has none. What only the server has stays, unless it is pruned.
package apply
