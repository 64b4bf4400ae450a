package ingest

import (
	"context"
	"reflect"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/store"
)

// workspaceLimits are what workspaces override for types of equipment. A value
// is never changed, only replaced.
type workspaceLimits map[int64]map[string]rimewatch.LimitOverrides

// of gives the overrides that hold for a device, nil when there are none.
func (l workspaceLimits) of(workspaceID int64, equipmentType string) *rimewatch.LimitOverrides {
	w := rimewatch.Workspace{Limits: l[workspaceID]}
	return w.LimitsOf(equipmentType)
}

func (s *Service) readLimits(ctx context.Context) (workspaceLimits, error) {
	list, err := s.store.Workspaces(ctx)
	if err != nil {
		return nil, err
	}
	out := make(workspaceLimits)
	for i := range list {
		if len(list[i].Limits) > 0 {
			out[list[i].ID] = list[i].Limits
		}
	}
	return out, nil
}

// limitsSlice bounds the units that one commit gives other limits.
const limitsSlice = 5000

// RefreshLimits makes the limits that workspaces have set in the store those
// that their devices are judged by, and returns when they are. It is called
// after a change; what other processes change is noticed within seconds.
func (s *Service) RefreshLimits(ctx context.Context) error {
	limits, err := s.readLimits(ctx)
	if err != nil {
		return err
	}
	s.mu.RLock()
	same := reflect.DeepEqual(limits, s.limits)
	s.mu.RUnlock()
	if same && !s.lagging.Load() {
		return nil
	}
	s.store.PutLimits(limits)
	for {
		r := &request{limits: limits, done: make(chan error, 1)}
		if err := s.send(ctx, r); err != nil {
			return err
		}
		if len(r.inputs) < limitsSlice {
			return nil
		}
	}
}

// watchLimits refreshes the limits when another process has changed them or a
// commit of them has failed.
func (s *Service) watchLimits() {
	if err := s.RefreshLimits(context.Background()); err != nil && rimewatch.CodeOf(err) != rimewatch.CodeUnavailable {
		s.log.Warn("limits of workspaces", "err", err)
	}
}

// takeLimits makes limits those of the service and gives the inputs that bring
// them to some of the units that are judged by others. Each carries the change
// alone: a change of the device in the same commit stays what it is.
func (s *Service) takeLimits(limits workspaceLimits) (inputs []store.Input) {
	s.mu.Lock()
	s.limits = limits
	s.mu.Unlock()
	s.lagging.Store(true)
	parsed := make(map[*engine.Config]configuration) // thousands of units share one
	for _, u := range s.units {
		now, ok := parsed[u.cfg]
		if !ok {
			now = s.configs.parsed(u.cfg)
			parsed[u.cfg] = now
		}
		if want := limits.of(u.workspaceID, now.Type); !reflect.DeepEqual(want, now.Workspace) {
			change := configuration{Workspace: want, OnlyThat: true}
			inputs = append(inputs, store.Input{Kind: store.InputDevice, DeviceID: u.id, Payload: change.encode()})
			if len(inputs) == limitsSlice {
				return inputs
			}
		}
	}
	if len(inputs) == 0 {
		s.lagging.Store(false)
	}
	return inputs
}
