package config

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// GroupRole is a role in a workspace that a group of the sign-in provider grants.
type GroupRole struct {
	Group, Workspace, Role string
}

// GroupRoles reads --oidc-role. Group names may contain "=" as those of LDAP do:
// the last one separates.
func (c *Serve) GroupRoles() (out []GroupRole, err error) {
	for _, text := range c.OIDCRole {
		text = strings.TrimSpace(text)
		eq := strings.LastIndex(text, "=")
		slash := strings.LastIndex(text, "/")
		if eq < 1 || slash < eq+2 || slash == len(text)-1 {
			return nil, fmt.Errorf("--oidc-role %q: want GROUP=WORKSPACE/ROLE", text)
		}
		r := GroupRole{text[:eq], text[eq+1 : slash], text[slash+1:]}
		switch r.Role {
		case "viewer", "technician", "admin", "owner":
		default:
			return nil, fmt.Errorf("--oidc-role %q: the role is viewer, technician, admin or owner", text)
		}
		out = append(out, r)
	}
	return out, nil
}

func (c *Serve) validateOIDC() error {
	if c.OIDCIssuer == "" {
		if c.OIDCClientID != "" || c.OIDCClientSecret != "" || len(c.OIDCRole) > 0 {
			return errors.New("--oidc-issuer is missing beside other settings of the sign-in provider")
		}
		return nil
	}
	u, err := url.Parse(c.OIDCIssuer)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) {
		return fmt.Errorf("--oidc-issuer %q: want https://HOST", c.OIDCIssuer)
	}
	switch {
	case c.OIDCClientID == "":
		return errors.New("--oidc-client-id is missing beside --oidc-issuer")
	case c.PublicURL == "":
		return errors.New("--oidc-issuer needs --public-url: the provider sends people back there")
	case c.OIDCTokenDays < 2 || c.OIDCTokenDays > 3650:
		return fmt.Errorf("--oidc-token-days %d: want 2 to 3650", c.OIDCTokenDays)
	}
	_, err = c.GroupRoles()
	return err
}

func isLoopback(host string) bool {
	return host == "localhost" || strings.HasPrefix(host, "127.") || host == "::1"
}
