package source

import (
	"context"
	"slices"
	"sync"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// CreateKey makes another key of a source. It is given out here and never again.
func (s *Service) CreateKey(ctx context.Context, k *rimewatch.SourceKey) (key string, err error) {
	key = s.newKey()
	k.Use(key)
	k.MadeAt = s.cfg.Now()
	k.CreatedAt, k.UpdatedAt = k.MadeAt, k.MadeAt
	return key, s.cfg.Store.Inlets().SourceKeys().Create(ctx, k)
}

// PrepareKey makes a key that may take the place of one (ReplaceKeyBy). It is given out here and
// never again.
func (s *Service) PrepareKey() (made rimewatch.SourceKey, key string) {
	key = s.newKey()
	made.Use(key)
	return made, key
}

// ReplaceKey makes a key another one: what sends with the old one is refused at once. The
// new one is given out here and never again.
func (s *Service) ReplaceKey(ctx context.Context, workspaceID, id int64) (k rimewatch.SourceKey, key string, err error) {
	made, key := s.PrepareKey()
	k, err = s.ReplaceKeyBy(ctx, workspaceID, id, &made)
	return k, key, err
}

// ReplaceKeyBy is ReplaceKey by a key that was prepared.
func (s *Service) ReplaceKeyBy(ctx context.Context, workspaceID, id int64, made *rimewatch.SourceKey) (rimewatch.SourceKey, error) {
	return s.Keys().Update(ctx, workspaceID, id, func(k *rimewatch.SourceKey) error {
		k.Hash, k.Prefix = made.Hash, made.Prefix
		k.MadeAt = max(s.cfg.Now(), k.MadeAt+1)
		k.UpdatedAt = k.MadeAt
		return nil
	})
}

// rotate leaves a source with one key, a new one.
func (s *Service) rotate(ctx context.Context, src *rimewatch.Source) (key string, err error) {
	list, err := s.keysOf(ctx, src)
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return s.CreateKey(ctx, &rimewatch.SourceKey{WorkspaceID: src.WorkspaceID, SourceID: src.ID})
	}
	for i := range list[1:] {
		if err := s.cfg.Store.Inlets().SourceKeys().Delete(ctx, src.WorkspaceID, list[1+i].ID); err != nil {
			return "", err
		}
	}
	_, key, err = s.ReplaceKey(ctx, src.WorkspaceID, list[0].ID)
	return key, err
}

func (s *Service) keysOf(ctx context.Context, src *rimewatch.Source) ([]rimewatch.SourceKey, error) {
	list, _, err := s.cfg.Store.Inlets().SourceKeys().Select(ctx, src.WorkspaceID, store.Selection{Of: src.ID})
	return list, err
}

// Prefixes returns by what the oldest key of each source of a workspace is recognised.
func (s *Service) Prefixes(ctx context.Context, workspaceID int64) (map[int64]string, error) {
	list, err := s.cfg.Store.Inlets().SourceKeys().List(ctx, workspaceID)
	of := make(map[int64]string)
	for i := range list {
		if k := &list[i]; of[k.SourceID] == "" {
			of[k.SourceID] = k.Prefix
		}
	}
	return of, err
}

// Keys are the keys of all sources. One that was deleted is refused from then on.
func (s *Service) Keys() store.Resource[rimewatch.SourceKey] {
	return keys{s.cfg.Store.Inlets().SourceKeys(), s}
}

type keys struct {
	store.Resource[rimewatch.SourceKey]
	s *Service
}

// Update implements store.Resource.
func (k keys) Update(ctx context.Context, workspaceID, id int64, change func(*rimewatch.SourceKey) error) (rimewatch.SourceKey, error) {
	x, err := k.Resource.Update(ctx, workspaceID, id, change)
	k.s.outdated(x.SourceID)
	return x, err
}

// Delete implements store.Resource.
func (k keys) Delete(ctx context.Context, workspaceID, id int64) error {
	x, err := k.Get(ctx, workspaceID, id)
	if err == nil {
		err = k.Resource.Delete(ctx, workspaceID, id)
	}
	k.s.outdated(x.SourceID)
	return err
}

// keyUses are who was heard by which key since the service started.
type keyUses struct {
	mu      sync.Mutex
	at      map[use]used
	pending []use // that the store does not know, or of an hour ago at most
}

type use struct{ workspace, key, device int64 }

// used is when a key was last used, and the moment that the store knows.
type used struct{ at, stored rimewatch.Time }

// The limits of the memory of keys: how many uses, and how old the store's may be.
const (
	maxUses  = 200_000
	useStale = rimewatch.Hour
)

// heard notes that devices were heard by the key with which a source was opened; none = a
// sender that is no device yet.
func (s *Service) heard(l *Live, now rimewatch.Time, inputs []store.Input, vitals []store.Vitals) {
	if l.opener.keyID == 0 {
		return
	}
	u := &s.uses
	u.mu.Lock()
	defer u.mu.Unlock()
	of := use{workspace: l.source.WorkspaceID, key: l.opener.keyID}
	if len(inputs)+len(vitals) == 0 {
		u.note(of, now)
	}
	for i := range inputs {
		if of.device != inputs[i].DeviceID { // lines of one device mostly follow each other
			of.device = inputs[i].DeviceID
			u.note(of, now)
		}
	}
	for i := range vitals {
		if of.device != vitals[i].DeviceID {
			of.device = vitals[i].DeviceID
			u.note(of, now)
		}
	}
}

func (u *keyUses) note(of use, now rimewatch.Time) {
	x, known := u.at[of]
	if !known && len(u.at) >= maxUses {
		clear(u.at)
		u.pending = nil
	}
	if now-x.stored >= useStale {
		u.pending = append(u.pending, of)
		x.stored = now
	}
	x.at = now
	u.at[of] = x
}

// saveUses saves the uses of keys that the store does not know yet.
func (s *Service) saveUses(ctx context.Context) {
	u := &s.uses
	u.mu.Lock()
	list := make(map[int64][]rimewatch.KeyUse)
	for _, of := range u.pending {
		list[of.workspace] = append(list[of.workspace], rimewatch.KeyUse{KeyID: of.key, DeviceID: of.device, At: u.at[of].at})
	}
	u.pending = nil
	u.mu.Unlock()
	for workspaceID, uses := range list {
		if err := s.cfg.Store.Inlets().NoteKeyUses(ctx, workspaceID, uses); err != nil {
			s.cfg.Log.Warn("note which keys were used", "workspace", workspaceID, "err", err)
			u.again(workspaceID, uses)
		}
	}
}

// again has uses wait that could not be saved.
func (u *keyUses) again(workspaceID int64, list []rimewatch.KeyUse) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for i := range list {
		of := use{workspaceID, list[i].KeyID, list[i].DeviceID}
		if _, known := u.at[of]; known && len(u.pending) < maxUses {
			u.pending = append(u.pending, of)
		}
	}
}

// KeyUses lists who was heard by the keys of a workspace, or by one of them, the newest
// first.
func (s *Service) KeyUses(ctx context.Context, workspaceID, keyID int64) ([]rimewatch.KeyUse, error) {
	s.saveUses(ctx)
	list, err := s.cfg.Store.Inlets().KeyUses(ctx, workspaceID, keyID)
	if err != nil {
		return nil, err
	}
	s.uses.mu.Lock()
	for i := range list {
		x := &list[i]
		x.At = max(x.At, s.uses.at[use{workspaceID, x.KeyID, x.DeviceID}].at)
	}
	s.uses.mu.Unlock()
	slices.SortStableFunc(list, func(a, b rimewatch.KeyUse) int { return int(b.At - a.At) })
	return list, nil
}
