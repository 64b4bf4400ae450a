package app

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi/accounts"
	"github.com/rimewatch/rimewatch/internal/provider"
)

// keyFile holds the key of what is encrypted in the store. It stands beside the
// store and in no backup of it.
const keyFile = "rimewatch.key"

// setAccounts makes the service of accounts.
func (a *App) setAccounts() error {
	absent := makeKey
	if a.cfg.part != nil { // the same on all nodes
		absent = func(string) ([]byte, error) {
			return hkdf.Key(sha256.New, []byte(a.cfg.ClusterSecret), nil, "second factors", keyBytes)
		}
	}
	seal := sealer(func() ([]byte, error) { return keyOf(filepath.Join(a.cfg.Data, keyFile), absent) })
	// Where it cannot be written now (a full disk) it is made when it is needed.
	if _, err := seal(); errors.Is(err, errKey) {
		return err
	} else if err != nil {
		a.log.Error("the key of second factors cannot be written", "err", err)
	}
	roles, err := a.cfg.GroupRoles()
	if err != nil {
		return err
	}
	var grants []account.Grant
	for _, r := range roles {
		grants = append(grants, account.Grant{Group: r.Group, Workspace: r.Workspace, Role: rimewatch.Role(r.Role)})
	}
	var serves func(int64) bool
	if a.cfg.part != nil {
		serves = a.cfg.part.holds
	}
	a.Accounts = account.New(account.Config{
		Store: a.Store, OnRevoke: a.Hub.Revoke, Logger: a.log, Mail: a.letters(), PublicURL: strings.TrimSuffix(a.cfg.PublicURL, "/"),
		Grants: grants, Provider: a.cfg.OIDCIssuer != "", TokenLife: rimewatch.Time(a.cfg.OIDCTokenDays) * rimewatch.Day, Seal: seal, Serves: serves,
	})
	return nil
}

// signOn is the sign-in provider that the operator names.
func (a *App) signOn(ctx context.Context) (accounts.SignOn, error) {
	if a.cfg.OIDCIssuer == "" {
		return accounts.SignOn{}, nil
	}
	key, err := a.secret(ctx, "sign-on")
	if err != nil {
		return accounts.SignOn{}, err
	}
	p, err := provider.New(provider.Config{
		Issuer: a.cfg.OIDCIssuer, ClientID: a.cfg.OIDCClientID, ClientSecret: a.cfg.OIDCClientSecret, Scopes: a.cfg.OIDCScope, GroupsClaim: a.cfg.OIDCGroupsClaim,
		Redirect: strings.TrimSuffix(a.cfg.PublicURL, "/") + "/api/v1/auth/provider/callback", Key: key,
	})
	if err != nil {
		return accounts.SignOn{}, err
	}
	return accounts.SignOn{Provider: p, Name: a.cfg.OIDCName}, nil
}

// sealer returns the encryption by a key, as soon as there is one.
func sealer(key func() ([]byte, error)) func() (cipher.AEAD, error) {
	var mu sync.Mutex
	var made cipher.AEAD
	return func() (cipher.AEAD, error) {
		mu.Lock()
		defer mu.Unlock()
		if made != nil {
			return made, nil
		}
		k, err := key()
		if err != nil {
			return nil, err
		}
		block, err := aes.NewCipher(k)
		if err != nil {
			return nil, err
		}
		made, err = cipher.NewGCMWithRandomNonce(block)
		return made, err
	}
}

// errKey means that the key's file holds something else.
var errKey = errors.New("not a key")

// keyOf returns the key of a file, or that of absent where there is none.
func keyOf(path string, absent func(path string) ([]byte, error)) ([]byte, error) {
	key, err := os.ReadFile(path) //nolint:gosec // the operator's own directory
	if errors.Is(err, fs.ErrNotExist) {
		key, err = absent(path)
	}
	if err != nil {
		return nil, err
	}
	if len(key) != keyBytes {
		return nil, fmt.Errorf("%s: %w: it has %d bytes, not %d; put the right one back, or move it away: second factors then have to be set up again", path, errKey, len(key), keyBytes)
	}
	return key, nil
}

const keyBytes = 32

// makeKey writes a new key, readable by its owner only. It is complete or absent.
func makeKey(path string) ([]byte, error) {
	key := make([]byte, keyBytes)
	_, _ = rand.Read(key) // it never fails
	partial := path + ".partial"
	f, err := os.OpenFile(partial, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // as above
	if err != nil {
		return nil, err
	}
	_, err = f.Write(key)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return key, os.Rename(partial, path)
}
