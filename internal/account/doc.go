// Package account decides about rights: people and their passwords, sessions,
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
// A Principal is the caller. Sessions have the scopes of their role; what needs a
// person (members, tokens, settings) asks for the role and refuses tokens. The
// operator of the machine (the command line) acts through Operator.
//
// # Sign-in providers
//
// A provider says who a person is and, by the operator's word, which of the
// person's groups give which role. Such a role counts only in a session that the
// provider has begun. What the groups give no more is taken away by the next
// sign-in, in a transaction that is committed although the sign-in is refused. No
// device goes silent by it: tokens keep the right to send readings, which never
// was the person's. An account either has a password or is the provider's: linking
// needs the password and takes it away, so that nothing outlasts what the provider
// says. One break-glass owner has both. A person without a password is thus one
// whom only a provider vouches for, and whose tokens lapse.
//
// # Invitations
//
// An invitation is an object of its own: it offers the holder of an e-mail
// address one membership in one workspace, and becomes one when that person
// accepts it with its secret. A person without an account makes one by it; one
// who has an account signs in and accepts. Nobody becomes a member unasked, and
// what the inviter is answered does not depend on whether the address has an
// account. A session looks at one workspace; when its membership there ends it
// may do nothing there, and never falls into another workspace.
package account
