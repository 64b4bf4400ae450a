package notifications

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
)

// receiptLife is for how long after its test a channel may be stored as tested: a form
// may lie open for a while.
const receiptLife = rimewatch.Hour

// ChannelReceipt is the receipt of a test before storing.
type ChannelReceipt struct {
	Receipt string `json:"receipt,omitempty" maxLength:"100" doc:"Of a test of the same settings within the last hour (POST /v1/channels/test): the channel counts as tested then. Of anything else it counts for nothing."`
}

// receipt says that a test by a channel's settings was taken at a moment. It is signed:
// whoever has none cannot make one.
func (a *api) receipt(c *rimewatch.Channel, at rimewatch.Time) string {
	m := hmac.New(sha256.New, a.CursorKey[:])
	_, _ = fmt.Fprintf(m, "channel tested %d %d %s %q %q", at, c.WorkspaceID, c.Kind, c.To, c.URL)
	return fmt.Sprintf("%d.%s", at, hex.EncodeToString(m.Sum(nil)[:16]))
}

// takeReceipt notes that a channel was tested with the settings that it has now, when
// the receipt says so. The channel is stored by then: when the note fails, the channel
// counts as never tested, and the caller learns of what was stored.
func (a *api) takeReceipt(ctx context.Context, receipt string, c *rimewatch.Channel) {
	text, _, _ := strings.Cut(receipt, ".")
	n, _ := strconv.ParseInt(text, 10, 64) // a text that is no number has no valid signature
	at := rimewatch.Time(n)
	if subtle.ConstantTimeCompare([]byte(receipt), []byte(a.receipt(c, at))) != 1 || httpapi.CallOf(ctx).Now > at+receiptLife {
		return
	}
	err := a.Notifier.Tested(ctx, c.WorkspaceID, c.ID, at)
	var tested rimewatch.Channel
	if err == nil {
		tested, err = a.Store.Routing().Channels().Get(ctx, c.WorkspaceID, c.ID)
	}
	if err != nil {
		a.Log().Error("note the test of a channel", "workspace", c.WorkspaceID, "channel", c.ID, "err", err)
		return
	}
	*c = tested
}
