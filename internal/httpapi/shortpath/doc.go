// Package shortpath serves HTTP/1.1 on a listener and takes a short way with one
// kind of request: the plain POST to one path, which is what devices send all
// day. For these a loop of its own does what is needed, parse, handle, answer,
// with one read and one write each, at half the cost of net/http.
//
// # The rest goes to net/http
//
// Whatever else a connection brings (another route, an unusual header, a body
// that is larger than the buffer) is not the loop's business: it lends net/http
// the connection for exactly that request, its head and as many bytes of body as
// Content-Length says. When net/http has answered and waits for the next request,
// the loan looks at it first: another odd one is lent as well; before a plain one
// net/http sees the end of the connection, closes it, and thereby hands it back.
// So an odd request costs a connection nothing for later, and there is one
// implementation of all that is odd.
//
// A request whose end its head alone does not show (a chunked body, an upgrade,
// a head that is malformed or larger than the buffer) takes the connection with
// it: net/http keeps it for good. In doubt a request is odd, and what net/http
// might read in another way is never lent.
//
// # Time
//
// A new connection has firstTimeout for its first request, the TLS handshake
// included, and each request pieceTimeout from its first byte to its last, so
// that silent connections do not use up descriptors. An answer has writeTimeout from
// when it is made, however long that took.
package shortpath
