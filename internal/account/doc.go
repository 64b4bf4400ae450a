// Package account knows who may do what: people and their passwords, sessions,
// API tokens, members and roles, the workspace's settings and its sites.
//
// # Secrets
//
// Every secret that the service hands out (session, API token, password link)
// has at least 190 random bits and is stored only as its SHA-256: with that many
// bits a slow hash adds nothing. Passwords have fewer, so they get argon2id with
// the parameters of the OWASP password storage cheat sheet. Hashing takes 19 MiB
// each time, so at most two run at once and a bounded number waits; more are
// turned away with CodeUnavailable.
//
// # Tokens on the hot path
//
// Every reading carries a token. A token that was seen before is answered from
// memory: SHA-256 of the plain token, one map look-up, no allocation. An entry
// is believed for 500 ms; then one request looks it up again while the others
// go on with the old answer for at most 250 ms more, so a revocation by any
// process works within a second. Unknown tokens are not remembered, so a token
// works as soon as it is made; a wrong checksum is refused without a look-up.
// Last uses are kept to the minute and written by Flush, never by a request.
//
// # Roles and scopes
//
// A Principal is who asks. Sessions have the scopes of their role; what needs a
// person (members, tokens, settings) asks for the role and refuses tokens. The
// operator of the machine (the command line) acts through Operator.
//
// A member is added by e-mail address. An address that is not known yet becomes
// a user without a password, and the one who added it gets a link, shown once,
// by which that person sets one. Nobody proves to own an address: who runs a
// workspace must only add people he knows to be behind it.
package account
