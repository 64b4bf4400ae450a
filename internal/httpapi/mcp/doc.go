// Package mcp offers the service to assistants by the Model Context Protocol, at
// /mcp. A tool is a request to the REST API with the caller's own token: so what a
// token may not see or do there, it may not here, and there is one place that
// decides it. Sessions are not kept; every call stands by itself.
package mcp
