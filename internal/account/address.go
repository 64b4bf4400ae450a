package account

import (
	"context"
	"sync"

	"github.com/rimewatch/rimewatch"
)

// address is where people reach the installation.
type address struct {
	fixed string // by the operator's flag, "" = the stored one counts
	mu    sync.Mutex
	last  string // as the store had it when it last answered
}

// Address returns where people reach the installation, without a slash at its end: what letters, messages,
// sketches and labels lead to. "" = nobody has said so. While the store cannot be asked, what it said last.
func (s *Service) Address(ctx context.Context) string {
	if s.address.fixed != "" {
		return s.address.fixed
	}
	got, err := s.store.Address(ctx)
	s.address.mu.Lock()
	defer s.address.mu.Unlock()
	if err == nil {
		s.address.last = got
	}
	return s.address.last
}

// AddressFixed reports whether the operator's flag says the address.
func (s *Service) AddressFixed() bool { return s.address.fixed != "" }

// Administers reports whether a principal may change what is the installation's and no workspace's: the person
// who has set it up, or whom the operator has named since (break-glass), as an owner.
func (s *Service) Administers(ctx context.Context, p Principal) (bool, error) {
	if !p.Session || p.UserID == 0 || !p.Role.AtLeast(rimewatch.RoleOwner) {
		return false, nil
	}
	u, err := s.store.People().User(ctx, p.UserID)
	return u.BreakGlass, err
}

// SetAddress changes the address of the installation. CodeForbidden where the person does not administer it;
// CodeConflict where the operator's flag says it; CodeValidationFailed with the field address.
func (s *Service) SetAddress(ctx context.Context, p Principal, text string) error {
	may, err := s.Administers(ctx, p)
	switch {
	case err != nil:
		return err
	case !may:
		return rimewatch.Errorf(rimewatch.CodeForbidden, "The address belongs to the whole installation: the person who has set it up can change it, or the operator by rimewatch address set.")
	}
	return s.ChangeAddress(ctx, text)
}

// ChangeAddress is SetAddress for the operator. "" forgets the address.
func (s *Service) ChangeAddress(ctx context.Context, text string) error {
	if s.address.fixed != "" {
		return rimewatch.Errorf(rimewatch.CodeConflict, "The address is set by --public-url.")
	}
	if text != "" {
		var err error
		if text, err = rimewatch.NormalAddress(text); err != nil {
			return err
		}
	}
	return s.store.SetAddress(ctx, text)
}
