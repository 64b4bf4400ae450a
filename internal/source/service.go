package source

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"hash/maphash"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/inlet"
	"github.com/rimewatch/rimewatch/internal/limit"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Store has the methods of a store that sources call.
type Store interface {
	Inlets() store.Inlets
	Everywhere() store.Everywhere
	Workspace(ctx context.Context, id int64) (rimewatch.Workspace, error)
	Identify(workspaceID int64, serial []byte) *store.Identity
}

// Writer is the one write path.
type Writer interface {
	Submit(ctx context.Context, inputs []store.Input, vitals []store.Vitals) error
	CreateDevice(ctx context.Context, d *rimewatch.Device) (rimewatch.DeviceView, error)
}

// Clock knows how far the service's time can be believed.
type Clock interface {
	// Saw notes that a device claims to have measured at a moment.
	Saw(device uint64, claims, now rimewatch.Time)
	// Gap is how far the machine's clock is ahead of the service's time while a
	// step of it is not believed yet, 0 = they agree.
	Gap() rimewatch.Time
}

// Config of a Service. Store, Writer and Now are needed.
type Config struct {
	Store  Store
	Writer Writer
	Now    func() rimewatch.Time
	Clock  Clock // nil = Now is always believed
	// Settings of workspaces, which others may ask, too; nil = a cache of its own.
	Settings *store.SettingsCache
	Log      *slog.Logger
	Rand     io.Reader // of keys; nil = crypto/rand
	Changed  func()    // called when people have changed sources, such as those of brokers; nil = nothing
	// Registrations bounds how many devices senders may create, by workspace; nil =
	// as many as limit.RegistrationsPerHour.
	Registrations *limit.Keyed
}

// Service receives the payloads of sources.
type Service struct {
	cfg     Config
	Library *inlet.Library
	Counts  Counts

	mu     sync.Mutex
	byKey  map[[32]byte]*Live
	byID   map[int64]*Live
	ofAPI  map[int64]*Live            // by workspace
	heldAt map[heldKey]rimewatch.Time // when the newest of those that wait came

	probes  map[int64]string          // by device: of which sensor of its sender its temperature is, part included
	unsetAt map[uint64]rimewatch.Time // when a reading without a time came, by what it says

	uses keyUses

	// registering is held while the device of a sender is made, by the sender's id.
	registering [64]sync.Mutex
	seed        maphash.Seed

	holding holder
	tallies tallies
}

// New makes a service.
func New(cfg Config) (*Service, error) {
	lib, err := inlet.NewLibrary()
	if err != nil {
		return nil, err
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Rand == nil {
		cfg.Rand = rand.Reader
	}
	if cfg.Registrations == nil {
		cfg.Registrations = limit.ByKey(limit.PerHour(limit.RegistrationsPerHour))
	}
	if cfg.Settings == nil {
		cfg.Settings = &store.SettingsCache{Load: cfg.Store.Workspace}
	}
	s := &Service{cfg: cfg, Library: lib, byKey: make(map[[32]byte]*Live), byID: make(map[int64]*Live), ofAPI: make(map[int64]*Live), heldAt: make(map[heldKey]rimewatch.Time), probes: make(map[int64]string), unsetAt: make(map[uint64]rimewatch.Time), seed: maphash.MakeSeed()}
	s.holding.store = cfg.Store
	s.uses.at = make(map[use]used)
	return s, nil
}

// BrokerState is the state of the connection to a source's broker.
type BrokerState struct {
	Connected bool
	Problem   string // as Sentence.Stored returns it: why it is not, or what the broker refuses; "" while it is tried for the first time
	Since     rimewatch.Time
	LastAt    rimewatch.Time // of the newest message; 0 = none yet
	Messages  int64
}

// Live is an opened source that is ready to receive payloads.
type Live struct {
	source   rimewatch.Source
	opener   Opener
	mapper   *inlet.Mapper               // nil = found out for each payload
	bindings map[string][]*inlet.Binding // by the sender's key
	senders  map[string][]string         // without rules, by the device's serial key: what they call themselves
	loadedAt rimewatch.Time
	zone     *time.Location // of times without one; nil = they are refused
	lines    *sync.Pool     // of *inlet.LineReader
}

// Opener is who has opened a source: with one of its keys, or by itself, and may then do
// all that the source may, or with an API token.
type Opener struct {
	TokenID int64            // 0 = no API token
	Sites   *rimewatch.Sites // whose devices it may write to; nil = to all, and what is unknown waits

	keyID int64 // 0 = no key
	hash  [32]byte
}

// may reports whether the opener may write to a device.
func (o *Opener) may(who *store.Identity) bool { return o.Sites == nil || o.Sites.Has(who.SiteID) }

// by returns the source for a caller.
func (l *Live) by(o Opener) *Live {
	if l.opener == o {
		return l
	}
	other := *l
	other.opener = o
	return &other
}

// Opener returns who has opened the source.
func (l *Live) Opener() Opener { return l.opener }

// bound returns the bindings of a sender, or of a sensor of it.
func (l *Live) bound(id, part string) []*inlet.Binding {
	return l.bindings[l.source.SenderKey(inlet.NameOf(cmp.Or(id, nameless), part))]
}

// bound returns an inlet.Bound: a sender that nobody has bound may call itself by a
// device's serial. A device knows of which sensor it is from its first reading on.
func (s *Service) bound(l *Live) inlet.Bound {
	return func(id, part string) []*inlet.Binding {
		list := l.bound(id, part)
		if len(list) == 0 && id != "" && part == "" && rimewatch.ValidSerial(id) {
			if who := s.cfg.Store.Identify(l.source.WorkspaceID, []byte(id)); who != nil && l.opener.may(who) {
				list = []*inlet.Binding{{Serial: who.Serial}}
			}
		}
		copied := false
		for i, b := range list {
			if b.Settled || b.HasRules() {
				continue
			}
			probe, known := s.probeOf(l, id, part, b.Serial)
			if !known {
				continue
			}
			if !copied {
				list, copied = slices.Clone(list), true
			}
			one := *b
			one.Probe, one.Settled = probe, true
			list[i] = &one
		}
		return list
	}
}

// probeOf returns of which sensor of a sender, or of a part of it, the temperature of a
// device is, and whether that is known: from a reading of it, or by a binding of the sensor.
func (s *Service) probeOf(l *Live, id, part, serial string) (probe string, known bool) {
	who := s.cfg.Store.Identify(l.source.WorkspaceID, []byte(serial))
	if who == nil {
		return "", false
	}
	s.mu.Lock()
	probe, known = s.probes[who.ID]
	s.mu.Unlock()
	switch {
	case part == "" && known:
		return probe, true
	case part == "":
		return l.sensorOf(id, serial)
	case probe == part:
		return "", known
	default:
		return strings.CutPrefix(probe, part+"/")
	}
}

// sensorOf returns the sensor of a sender that is bound to a device.
func (l *Live) sensorOf(id, serial string) (sensor string, bound bool) {
	key := l.source.SenderKey(id)
	for _, name := range l.senders[rimewatch.SerialKey(serial)] {
		for i := range name {
			if name[i] == '/' && l.source.SenderKey(name[:i]) == key {
				return name[i+1:], true
			}
		}
	}
	return "", false
}

// nameless is the name of a sender without one. It may be several, so it
// is a device only where somebody has bound it.
const nameless = "device"

// freshFor is how long a source is believed to be as it was read. Changes made
// here count at once; those of another process after this time.
const freshFor = rimewatch.Second

// fresh reports whether the source was read a moment ago, and not before the clock was
// set back.
func (l *Live) fresh(now rimewatch.Time) bool { return l.loadedAt <= now && now-l.loadedAt < freshFor }

// maxLive bounds the sources that are remembered.
const maxLive = 10_000

// ByKey finds the source of a key: CodeUnauthenticated when there is none, or it
// is disabled.
func (s *Service) ByKey(ctx context.Context, key string) (*Live, error) {
	if !rimewatch.ValidSourceKey(key) {
		return nil, errKey()
	}
	return s.byHash(ctx, rimewatch.HashToken(key))
}

func (s *Service) byHash(ctx context.Context, hash [32]byte) (*Live, error) {
	s.mu.Lock()
	l := s.byKey[hash]
	s.mu.Unlock()
	if l == nil || !l.fresh(s.cfg.Now()) {
		src, keyID, err := s.cfg.Store.Inlets().SourceByKey(ctx, hash)
		if rimewatch.CodeOf(err) == rimewatch.CodeNotFound {
			s.forget(l)
			return nil, errKey()
		}
		if err != nil {
			return nil, err
		}
		if l, err = s.load(ctx, &src); err != nil {
			return nil, err
		}
		l = l.by(Opener{keyID: keyID, hash: hash})
		s.mu.Lock()
		if len(s.byKey) >= maxLive {
			clear(s.byKey)
		}
		s.byKey[hash] = l
		s.mu.Unlock()
	}
	if !l.source.Enabled {
		return nil, errKey()
	}
	return l, nil
}

func errKey() error {
	return rimewatch.Errorf(rimewatch.CodeUnauthenticated, "The key of the source is missing or not valid.")
}

// ByID finds a source of a workspace.
func (s *Service) ByID(ctx context.Context, workspaceID, id int64) (*Live, error) {
	src, err := s.cfg.Store.Inlets().Sources().Get(ctx, workspaceID, id)
	if err != nil {
		return nil, err
	}
	return s.load(ctx, &src)
}

// Fresh returns the source as it is now: l itself when that was read a moment ago.
// CodeNotFound when it is gone, CodeUnauthenticated when it is disabled, or the key by which
// it was opened is worth nothing any more.
func (s *Service) Fresh(ctx context.Context, l *Live) (*Live, error) {
	if l.opener.keyID != 0 {
		return s.byHash(ctx, l.opener.hash)
	}
	s.mu.Lock()
	known := s.byID[l.source.ID]
	s.mu.Unlock()
	if known == nil || !known.fresh(s.cfg.Now()) {
		var err error
		if known, err = s.ByID(ctx, l.source.WorkspaceID, l.source.ID); err != nil {
			return nil, err
		}
	}
	if !known.source.Enabled {
		return nil, errKey()
	}
	return known.by(l.opener), nil
}

// OfAPI finds the source that stands for the API in a workspace, for a caller.
func (s *Service) OfAPI(ctx context.Context, workspaceID int64, by Opener) (*Live, error) {
	l, err := s.ofWorkspace(ctx, workspaceID)
	if err != nil {
		return nil, err
	}
	return l.by(by), nil
}

func (s *Service) ofWorkspace(ctx context.Context, workspaceID int64) (*Live, error) {
	s.mu.Lock()
	l := s.ofAPI[workspaceID]
	fresh := l != nil && s.byID[l.source.ID] == l && l.fresh(s.cfg.Now())
	s.mu.Unlock()
	if fresh {
		return l, nil
	}
	src, err := s.cfg.Store.Inlets().APISource(ctx, workspaceID, s.cfg.Now())
	if err != nil {
		return nil, err
	}
	if l, err = s.load(ctx, &src); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ofAPI) >= maxLive {
		clear(s.ofAPI)
	}
	s.ofAPI[workspaceID] = l
	return l, nil
}

// load makes a source ready, or says that it is as it was.
func (s *Service) load(ctx context.Context, src *rimewatch.Source) (*Live, error) {
	now := s.cfg.Now()
	s.mu.Lock()
	old := s.byID[src.ID]
	s.mu.Unlock()
	l := &Live{source: *src, loadedAt: now, lines: new(sync.Pool)}
	if old != nil && old.source.UpdatedAt == src.UpdatedAt && old.source.Document == src.Document && old.source.Template == src.Template {
		l.mapper, l.bindings, l.senders, l.lines, l.zone = old.mapper, old.bindings, old.senders, old.lines, old.zone
	} else if err := s.prepare(ctx, l); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byID) >= maxLive {
		clear(s.byID)
		clear(s.byKey)
	}
	s.byID[src.ID] = l
	return l, nil
}

// prepare compiles the source's template and bindings.
func (s *Service) prepare(ctx context.Context, l *Live) error {
	var err error
	if l.mapper, err = s.mapper(l.source.Template, l.source.Document); err != nil {
		return err
	}
	if l.source.TimeZone != "" {
		l.zone = rimewatch.ZoneOf(l.source.TimeZone)
	}
	list, err := s.cfg.Store.Inlets().Bindings(ctx, l.source.WorkspaceID, l.source.ID)
	if err != nil {
		return err
	}
	l.bindings, l.senders = make(map[string][]*inlet.Binding, len(list)), make(map[string][]string, len(list))
	for i := range list {
		b, err := compileBinding(&list[i])
		if err != nil {
			return err
		}
		key := l.source.SenderKey(list[i].ExternalID)
		if l.bindings[key] = append(l.bindings[key], b); !b.HasRules() {
			device := rimewatch.SerialKey(b.Serial)
			l.senders[device] = append(l.senders[device], list[i].ExternalID)
		}
	}
	return nil
}

// mapper returns that of a template: CodeValidationFailed for an unknown one.
func (s *Service) mapper(template, document string) (*inlet.Mapper, error) {
	if template == rimewatch.TemplateOwn {
		return inlet.ParseTemplate([]byte(document))
	}
	m, ok := s.Library.Find(template)
	if !ok && template != rimewatch.TemplateAuto {
		return nil, rimewatch.Invalid("template", "is not the name of a built-in template")
	}
	return m, nil
}

func compileBinding(b *rimewatch.Binding) (*inlet.Binding, error) {
	var rules map[string]inlet.Rule
	if b.Fields != "" {
		if err := json.Unmarshal([]byte(b.Fields), &rules); err != nil {
			return nil, rimewatch.Invalid("fields", "are not understood")
		}
	}
	return inlet.NewBinding(b.Serial, rules)
}

// forget drops the cached source; nil is none.
func (s *Service) forget(l *Live) {
	if l == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.byKey, func(_ [32]byte, x *Live) bool { return x.source.ID == l.source.ID })
	delete(s.byID, l.source.ID)
}

// outdated drops the cached source when it has changed, or its bindings have.
func (s *Service) outdated(id int64) {
	s.mu.Lock()
	l := s.byID[id]
	s.mu.Unlock()
	s.forget(l)
}

// changed is called when a source was made, changed or deleted.
func (s *Service) changed(id int64) {
	s.outdated(id)
	if s.cfg.Changed != nil {
		s.cfg.Changed()
	}
}

// newKey makes a new random key.
func (s *Service) newKey() string {
	r := bufio.NewReader(s.cfg.Rand)
	return rimewatch.NewSourceKey(func() byte {
		b, err := r.ReadByte()
		if err != nil {
			panic(err) // crypto/rand does not fail
		}
		return b
	})
}

// workspace returns the settings of a workspace, which may be a second old.
func (s *Service) workspace(ctx context.Context, id int64) (rimewatch.Workspace, error) {
	return s.cfg.Settings.Get(ctx, id, s.cfg.Now())
}

// ID returns the source's.
func (l *Live) ID() int64 { return l.source.ID }

// Workspace returns the workspace that the source belongs to.
func (l *Live) Workspace() int64 { return l.source.WorkspaceID }
