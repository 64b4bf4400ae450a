package wire

import (
	"strconv"

	"github.com/rimewatch/rimewatch"
)

// Pagination describes which part of a list an answer holds. With a cursor only
// per_page and next_cursor are known.
type Pagination struct {
	CurrentPage *int64  `json:"current_page"`
	PerPage     int     `json:"per_page"`
	Total       *int    `json:"total" doc:"Items on all pages."`
	LastPage    *int    `json:"last_page"`
	From        *int    `json:"from" doc:"Number of the first item on this page, from 1; null when there is none."`
	To          *int    `json:"to"`
	NextCursor  *string `json:"next_cursor" doc:"Where the list goes on; null at its end."`
}

// Failure is the body of an error response.
type Failure struct {
	Success bool          `json:"success" doc:"Always false."`
	Data    EmptyObject   `json:"data"`
	Error   FailureDetail `json:"error"`
}

// EmptyObject is the data of an answer that has none.
type EmptyObject struct{}

// FailureDetail is the error of an answer.
type FailureDetail struct {
	Code      rimewatch.Code      `json:"code" doc:"The kind of failure, for programs to decide by; a code is never renamed."`
	Message   string              `json:"message" doc:"For people. It may change."`
	Fields    map[string][]string `json:"fields" doc:"What is wrong with each invalid field. Empty when the error is not about a field."`
	RequestID string              `json:"request_id" doc:"The same as the header X-Request-Id."`
	Docs      string              `json:"docs" example:"/docs/errors#validation_failed" doc:"Where the code is explained, and what to do: an address on this server."`
}

// ErrorDocs is followed by a code in the address of the section that explains it.
const ErrorDocs = "/docs/errors#"

// appendDocs appends the last members of an error.
func appendDocs(b []byte, code rimewatch.Code, requestID string) []byte {
	b = append(b, `,"request_id":`...)
	b = AppendString(b, requestID)
	b = append(b, `,"docs":"`+ErrorDocs...)
	b = append(b, code...)
	return append(b, '"')
}

// AppendFailure appends the body of an error response, a Failure.
func AppendFailure(b []byte, e *rimewatch.Error, requestID string) []byte {
	b = append(b, `{"success":false,"data":{},"error":{"code":"`...)
	b = append(b, e.Code...)
	b = append(b, `","message":`...)
	b = AppendString(b, e.Message)
	b = append(b, `,"fields":`...)
	b = AppendFields(b, e.Fields)
	b = appendDocs(b, e.Code, requestID)
	return append(b, "}}\n"...)
}

// Problem is the body of an error response for who asks for application/problem+json.
type Problem struct {
	Type      string              `json:"type" doc:"Always about:blank: code says which error it is."`
	Title     string              `json:"title" doc:"The status in words."`
	Status    int                 `json:"status"`
	Detail    string              `json:"detail" doc:"The message for people."`
	Success   bool                `json:"success" doc:"Always false."`
	Data      EmptyObject         `json:"data"`
	Code      string              `json:"code"`
	Fields    map[string][]string `json:"fields"`
	RequestID string              `json:"request_id"`
	Docs      string              `json:"docs"`
}

// AppendProblem is AppendFailure in the form of RFC 9457. Its type says no more than the status;
// code, fields and request_id are members of their own.
func AppendProblem(b []byte, e *rimewatch.Error, status int, title, requestID string) []byte {
	b = append(b, `{"type":"about:blank","title":`...)
	b = AppendString(b, title)
	b = append(b, `,"status":`...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, `,"detail":`...)
	b = AppendString(b, e.Message)
	b = append(b, `,"success":false,"data":{},"code":"`...)
	b = append(b, e.Code...)
	b = append(b, `","fields":`...)
	b = AppendFields(b, e.Fields)
	b = appendDocs(b, e.Code, requestID)
	return append(b, "}\n"...)
}
