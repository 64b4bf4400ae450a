// Package accounts is the part of the REST API about people: signing in, second
// factors, members, invitations and API tokens, in the frame of package httpapi.
// It is tested with the other resources in package v1.
package accounts

import (
	"slices"

	"github.com/rimewatch/rimewatch/internal/httpapi"
)

// Service keeps people, sessions, tokens and members.
type Service interface {
	personal
	tokenAdmin
	memberAdmin
	inviter
	secondFactors
	addressed
}

// people has the routes of the package and what answers them.
type people struct {
	*httpapi.API
	service Service
	signOn  SignOn
}

// Routes returns the part of the API that s answers, with people who sign in at a
// provider or without.
func Routes(s Service, on SignOn) httpapi.Part {
	return func(frame *httpapi.API) []httpapi.Route {
		a := people{frame, s, on}
		return slices.Concat(a.tokenRoutes(), a.memberRoutes(), a.invitationRoutes(), factors{a}.routes(), provided{a, on}.routes(), a.accountRoutes(), a.addressRoutes())
	}
}
