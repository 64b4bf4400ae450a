package tables

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func errFactor() error {
	return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no second factor.")
}

func findFactor(conn Conn, userID int64) (f store.SecondFactor, err error) {
	err = one(conn, errFactor(), `SELECT secret, confirmed_at, last_step, (SELECT count(*) FROM recovery_code r WHERE r.user_id = f.user_id)
		FROM second_factor f WHERE f.user_id = ?`, func(row Row) {
		f = store.SecondFactor{
			UserID: userID, Secret: columnBlob(row, 0), ConfirmedAt: columnTime(row, 1),
			LastStep: row.ColumnInt64(2), Codes: row.ColumnInt(3),
		}
	}, userID)
	return f, err
}

// SecondFactor implements store.People.
func (t Access) SecondFactor(ctx context.Context, userID int64) (f store.SecondFactor, err error) {
	err = t.read(ctx, func(conn Conn) (err error) {
		f, err = findFactor(conn, userID)
		return err
	})
	return f, err
}

func errHasFactor() error {
	return rimewatch.Errorf(rimewatch.CodeConflict, "A second factor is set up already.")
}

// BeginSecondFactor implements store.People.
func (t Access) BeginSecondFactor(ctx context.Context, userID int64, secret []byte) error {
	return t.write(ctx, func(conn Conn) error {
		return execOne(conn, errHasFactor(), `INSERT INTO second_factor (user_id, secret, confirmed_at, last_step) VALUES (?, ?, 0, 0)
			ON CONFLICT (user_id) DO UPDATE SET secret = excluded.secret WHERE second_factor.confirmed_at = 0`, userID, secret)
	})
}

// ConfirmSecondFactor implements store.People.
func (t Access) ConfirmSecondFactor(ctx context.Context, userID int64, step int64, codes [][32]byte, now rimewatch.Time) error {
	return t.write(ctx, func(conn Conn) error {
		f, err := findFactor(conn, userID)
		if err != nil {
			return err
		}
		if f.ConfirmedAt != 0 {
			return errHasFactor()
		}
		if _, err := exec(conn, "UPDATE second_factor SET confirmed_at = ?, last_step = ? WHERE user_id = ?", int64(now), step, userID); err != nil {
			return err
		}
		if err := putCodes(conn, userID, codes); err != nil {
			return err
		}
		return t.auditUser(ctx, conn, userID, "user.second_factor_added", nil)
	})
}

// UseStep implements store.People.
func (t Access) UseStep(ctx context.Context, userID, step int64) error {
	return t.write(ctx, func(conn Conn) error {
		return execOne(conn, rimewatch.Errorf(rimewatch.CodeConflict, "This code was used already."), "UPDATE second_factor SET last_step = ? WHERE user_id = ? AND last_step < ?", step, userID, step)
	})
}

// putCodes replaces the recovery codes of a person.
func putCodes(conn Conn, userID int64, codes [][32]byte) error {
	_, err := exec(conn, "DELETE FROM recovery_code WHERE user_id = ?", userID)
	for i := range codes {
		if err == nil {
			_, err = exec(conn, "INSERT INTO recovery_code (user_id, hash) VALUES (?, ?)", userID, codes[i][:])
		}
	}
	return err
}

// UseRecoveryCode implements store.People.
func (t Access) UseRecoveryCode(ctx context.Context, userID int64, hash [32]byte) (left int, err error) {
	err = t.write(ctx, func(conn Conn) error {
		if err := execOne(conn, rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such recovery code."), "DELETE FROM recovery_code WHERE user_id = ? AND hash = ?", userID, hash[:]); err != nil {
			return err
		}
		f, err := findFactor(conn, userID)
		if err != nil {
			return err
		}
		left = f.Codes
		return t.auditUser(ctx, conn, userID, "user.recovery_code_used", store.Fields{"left": left})
	})
	return left, err
}

// ReplaceRecoveryCodes implements store.People.
func (t Access) ReplaceRecoveryCodes(ctx context.Context, userID int64, codes [][32]byte) error {
	return t.write(ctx, func(conn Conn) error {
		if _, err := findFactor(conn, userID); err != nil {
			return err
		}
		if err := putCodes(conn, userID, codes); err != nil {
			return err
		}
		return t.auditUser(ctx, conn, userID, "user.recovery_codes_replaced", nil)
	})
}

// DeleteSecondFactor implements store.People.
func (t Access) DeleteSecondFactor(ctx context.Context, userID int64) error {
	return t.write(ctx, func(conn Conn) error {
		f, err := findFactor(conn, userID)
		if err != nil {
			return err
		}
		if err := putCodes(conn, userID, nil); err != nil {
			return err
		}
		if _, err := exec(conn, "DELETE FROM second_factor WHERE user_id = ?", userID); err != nil || f.ConfirmedAt == 0 {
			return err
		}
		return t.auditUser(ctx, conn, userID, "user.second_factor_removed", nil)
	})
}
