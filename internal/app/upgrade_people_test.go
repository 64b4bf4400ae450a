package app_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch/internal/store/sqlite"
)

// TestPeopleOfBefore: a store of before sign-in providers were told apart. People
// whom a provider has named keep what decides about them in one place.
func TestPeopleOfBefore(t *testing.T) {
	dir := unpacked(t, 10)
	alter(t, filepath.Join(dir, sqlite.FileName), `
		INSERT INTO person (id, email, password_hash, locale, created_at, updated_at) VALUES
			(101, 'owner@x.test', '$o', '{"units":"c"}', 0, 0), (102, 'staff@x.test', '$s', '{"units":"c"}', 0, 0), (103, 'both@x.test', '$b', '{"units":"c"}', 0, 0);
		INSERT INTO identity (issuer, subject, user_id) VALUES ('i', '0', (SELECT min(user_id) FROM member WHERE role = 'owner')), ('i', '1', 101), ('i', '2', 102), ('i', '3', 103);
		INSERT INTO workspace (id, name, name_key, on_unknown, time_zone, raw_days, rollup_days, created_at, updated_at)
			SELECT 101, 'Other', 'other', on_unknown, time_zone, raw_days, rollup_days, 0, 0 FROM workspace LIMIT 1;
		INSERT INTO member (workspace_id, user_id, role, provided, created_at) VALUES
			(101, 101, 'owner', 0, 0), (101, 102, 'admin', 1, 0), (101, 103, 'viewer', 0, 0), ((SELECT min(id) FROM workspace), 103, 'viewer', 1, 0);
		INSERT INTO session (id, hash, user_id, workspace_id, strong, created_at, last_used_at, expires_at, ends_at) VALUES
			(101, x'01', 102, 101, 1, 1795000000000, 0, 1895000000000, 1795043200000), (102, x'02', 101, 101, 1, 1795000000000, 0, 1895000000000, 1802776000000);`)
	h, _ := goldenHouse(t, dir, goldenNow.Add(2*time.Minute))
	glass := 0
	for id, want := range map[int64]string{101: "$o", 102: "", 103: "$b"} {
		u, err := h.Store.People().User(t.Context(), id)
		h.must(err)
		if u.PasswordHash != want || u.BreakGlass {
			t.Errorf("person %d: password %q, break-glass %v", id, u.PasswordHash, u.BreakGlass)
		}
	}
	members, err := h.Store.People().Members(t.Context(), 1)
	h.must(err)
	for _, m := range members {
		u, err := h.Store.People().User(t.Context(), m.UserID)
		h.must(err)
		if u.BreakGlass {
			glass++
			if m.Role != "owner" || u.PasswordHash == "" {
				t.Errorf("%+v gets in without the provider", m)
			}
		}
	}
	if glass != 1 {
		t.Errorf("%d people get in without the provider", glass)
	}
	for id, want := range map[int64]bool{102: true, 101: false} {
		list, err := h.Store.People().Sessions(t.Context(), id, 1795000000000)
		h.must(err)
		if len(list) != 1 || list[0].Provided != want {
			t.Errorf("sessions of %d: %+v", id, list)
		}
	}
}
