package storetest

import (
	"sync"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func (c *control) secondFactor() {
	w, u, v := c.workspace("a"), c.user("u@example.com"), c.user("v@example.com")
	c.member(w, u, rimewatch.RoleViewer)
	_, err := c.s.People().SecondFactor(c.ctx, u.ID)
	c.code(err, rimewatch.CodeNotFound)
	c.code(c.s.People().ConfirmSecondFactor(c.ctx, u.ID, 1, nil, t0), rimewatch.CodeNotFound)
	c.code(c.s.People().DeleteSecondFactor(c.ctx, u.ID), rimewatch.CodeNotFound)
	c.code(c.s.People().ReplaceRecoveryCodes(c.ctx, u.ID, nil), rimewatch.CodeNotFound)
	c.code(c.s.People().BeginSecondFactor(c.ctx, v.ID+1, []byte("x")), rimewatch.CodeNotFound)

	c.ok(c.s.People().BeginSecondFactor(c.ctx, u.ID, []byte("first")))
	c.ok(c.s.People().BeginSecondFactor(c.ctx, u.ID, []byte("second"))) // not confirmed: replaced
	codes := [][32]byte{hashOf("1"), hashOf("2"), hashOf("3")}
	c.ok(c.s.People().ConfirmSecondFactor(c.ctx, u.ID, 100, codes, t0+1))
	got, err := c.s.People().SecondFactor(c.ctx, u.ID)
	c.ok(err)
	c.same(got, store.SecondFactor{UserID: u.ID, Secret: []byte("second"), ConfirmedAt: t0 + 1, LastStep: 100, Codes: 3})
	c.code(c.s.People().BeginSecondFactor(c.ctx, u.ID, []byte("third")), rimewatch.CodeConflict)
	c.code(c.s.People().ConfirmSecondFactor(c.ctx, u.ID, 101, nil, t0+2), rimewatch.CodeConflict)

	c.code(c.s.People().UseStep(c.ctx, u.ID, 100), rimewatch.CodeConflict)
	c.ok(c.s.People().UseStep(c.ctx, u.ID, 102))
	c.code(c.s.People().UseStep(c.ctx, u.ID, 101), rimewatch.CodeConflict)
	c.code(c.s.People().UseStep(c.ctx, v.ID, 1), rimewatch.CodeConflict)

	_, err = c.s.People().UseRecoveryCode(c.ctx, v.ID, hashOf("1")) // not one's own
	c.code(err, rimewatch.CodeNotFound)
	left, err := c.s.People().UseRecoveryCode(c.ctx, u.ID, hashOf("1"))
	c.ok(err)
	c.same(left, 2)
	_, err = c.s.People().UseRecoveryCode(c.ctx, u.ID, hashOf("1"))
	c.code(err, rimewatch.CodeNotFound)
	c.ok(c.s.People().ReplaceRecoveryCodes(c.ctx, u.ID, [][32]byte{hashOf("4")}))
	_, err = c.s.People().UseRecoveryCode(c.ctx, u.ID, hashOf("2"))
	c.code(err, rimewatch.CodeNotFound)
	got, err = c.s.People().SecondFactor(c.ctx, u.ID)
	c.ok(err)
	c.same(got, store.SecondFactor{UserID: u.ID, Secret: []byte("second"), ConfirmedAt: t0 + 1, LastStep: 102, Codes: 1})

	c.ok(c.s.People().DeleteSecondFactor(c.ctx, u.ID))
	_, err = c.s.People().SecondFactor(c.ctx, u.ID)
	c.code(err, rimewatch.CodeNotFound)
	_, err = c.s.People().UseRecoveryCode(c.ctx, u.ID, hashOf("4"))
	c.code(err, rimewatch.CodeNotFound)
	entries, _, err := c.s.Audit().AuditEntries(c.ctx, w.ID, "user.", "", store.Page{Limit: 10})
	c.ok(err)
	var actions []string
	for _, e := range entries {
		actions = append(actions, e.Action)
	}
	c.same(actions, []string{"user.second_factor_removed", "user.recovery_codes_replaced", "user.recovery_code_used", "user.second_factor_added"})
}

// codesAtOnce lets one code be used many times at once: once it counts.
func (c *control) codesAtOnce() {
	u := c.user("u@example.com")
	c.ok(c.s.People().BeginSecondFactor(c.ctx, u.ID, []byte("x")))
	c.ok(c.s.People().ConfirmSecondFactor(c.ctx, u.ID, 1, [][32]byte{hashOf("1")}, t0))
	for _, use := range []func() error{
		func() error { return c.s.People().UseStep(c.ctx, u.ID, 2) },
		func() error { _, err := c.s.People().UseRecoveryCode(c.ctx, u.ID, hashOf("1")); return err },
	} {
		var wg sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			wg.Go(func() { errs[i] = use() })
		}
		wg.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			}
		}
		c.same(won, 1)
	}
}
