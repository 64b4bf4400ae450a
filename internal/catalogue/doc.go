// Package catalogue holds what people read in every language but English, one
// file a language, for the service and the web UI alike. The English text is the
// key, so code reads as people do; what a file does not have is English.
//
// To add a language, copy es.json under the language's tag and translate its
// texts; nothing else names the languages. server.json lists the texts of the
// service (`go test ./internal/catalogue -update`), the web UI's are found in its
// sources; the tests of both sides hold the files against them.
package catalogue
