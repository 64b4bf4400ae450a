package httpapi

import (
	"context"
	"sync"

	"github.com/rimewatch/rimewatch"
)

// serialCache knows how serials were written when their devices were
// registered. A device keeps its serial for ever, so an entry is never wrong.
type serialCache struct {
	mu   sync.RWMutex
	byID map[int64]string
}

// maxSerials bounds the memory; beyond it the cache starts anew.
const maxSerials = 1 << 18

// of gives the serial of a device as it was registered, where a client may have
// sent it in another case. When it cannot be found out, what was sent has to do.
func (c *serialCache) of(ctx context.Context, fleet Fleet, workspaceID, deviceID int64, sent []byte) string {
	c.mu.RLock()
	serial, ok := c.byID[deviceID]
	c.mu.RUnlock()
	if ok {
		return serial
	}
	v, err := fleet.Device(ctx, workspaceID, string(sent))
	if err != nil || v.ID != deviceID || rimewatch.SerialKey(v.Serial) != rimewatch.SerialKey(string(sent)) {
		return string(sent)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID == nil || len(c.byID) >= maxSerials {
		c.byID = make(map[int64]string)
	}
	c.byID[deviceID] = v.Serial
	return v.Serial
}
