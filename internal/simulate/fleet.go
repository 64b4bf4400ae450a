package simulate

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Member is one device of a fleet.
type Member struct {
	Serial string // such as WIF-0001
	Name   string
	Site   string
	Config Config
}

// FleetConfig describes the fleet to make.
type FleetConfig struct {
	Seed        uint64
	Units       int
	Equipment   []string // types in turn; default the five that the model was fitted to
	Sites       int      // default one for every ten units
	Start       rimewatch.Time
	SampleEvery time.Duration // default 60 s
	Step        time.Duration // default 5 s
	Offset      time.Duration // local time minus UTC of all sites
	Extras      bool
}

// FittedEquipment lists the types that the model was fitted to.
func FittedEquipment() []string {
	return []string{"walkin_freezer", "walkin_cooler", "reach_in_cooler", "display_case_open", "vaccine_refrigerator"}
}

// NewFleet lays out a fleet without faults: types in turn, sites in blocks,
// every unit another one and each with its own phase of sampling. Nothing is
// simulated yet.
func NewFleet(c FleetConfig) ([]Member, error) {
	if c.Units < 0 {
		return nil, fmt.Errorf("simulate: a fleet cannot have %d units", c.Units)
	}
	types := c.Equipment
	if len(types) == 0 {
		types = FittedEquipment()
	}
	for _, t := range types {
		if _, ok := kin(t); !ok {
			return nil, fmt.Errorf("simulate: equipment type %q cannot be simulated", t)
		}
	}
	if c.SampleEvery == 0 {
		c.SampleEvery = time.Minute
	}
	sites := c.Sites
	if sites <= 0 {
		sites = (c.Units + 9) / 10
	}
	n := noise(c.Seed).stream(streamFleet)
	ofType := make(map[string]int)
	members := make([]Member, c.Units)
	for i := range members {
		equipment := types[i%len(types)]
		ofType[equipment]++
		number := ofType[equipment]
		site := i * sites / c.Units
		seed := n.bits(int64(i))
		phase := rimewatch.Time(float64(c.SampleEvery.Milliseconds()) * noise(seed).uniform(0))
		e, _ := rimewatch.EquipmentBySlug(equipment)
		members[i] = Member{
			Serial: fmt.Sprintf("%s-%04d", SerialPrefix(equipment), number),
			Name:   unitName(e.Label, number),
			Site:   siteName(site),
			Config: Config{
				Equipment: equipment, Seed: seed, Start: c.Start + phase,
				SampleEvery: c.SampleEvery, Step: c.Step, Extras: c.Extras,
				Site: Site{Seed: n.bits(int64(-1 - site)), Offset: c.Offset},
			},
		}
	}
	return members, nil
}

// unitName is the part of a label that people would say, and a number.
func unitName(label string, number int) string {
	short, _, _ := strings.Cut(label, " / ")
	short, _, _ = strings.Cut(short, " (")
	short, _, _ = strings.Cut(short, ",")
	return fmt.Sprintf("%s %d", short, number)
}

func siteName(i int) string {
	names := [...]string{"Harbour Street", "Market Hall", "Mill Lane", "Station Road", "Old Town", "Riverside", "Northgate", "Castle Square"}
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s %d", names[i%len(names)], i/len(names)+1)
}

// SerialPrefix is the beginning of the serials of a type: WIF, WIC, RIC, DCO,
// VAC, and for the others three letters of their words.
func SerialPrefix(equipment string) string {
	switch equipment {
	case "walkin_freezer":
		return "WIF"
	case "walkin_cooler":
		return "WIC"
	case "vaccine_refrigerator":
		return "VAC"
	case "wine_cooler":
		return "WNC"
	case "vaccine_freezer":
		return "VAF"
	}
	words := strings.Split(equipment, "_")
	prefix := ""
	switch len(words) {
	case 1:
		prefix = words[0]
	case 2:
		prefix = words[0][:min(2, len(words[0]))] + words[1][:min(1, len(words[1]))]
	default:
		for _, w := range words {
			prefix += w[:min(1, len(w))]
		}
	}
	return strings.ToUpper(prefix[:min(3, len(prefix))])
}

// Generate simulates units in parallel up to and including a moment. It calls
// done for each of them, one call at a time but in any order, with the unit,
// ready to go on, and its readings. It returns the first error.
func Generate(configs []Config, to rimewatch.Time, workers int, done func(i int, u *Unit, history []rimewatch.Reading)) error {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		next  int
		first error
	)
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == len(configs) || first != nil {
			return 0, false
		}
		next++
		return next - 1, true
	}
	for range max(1, min(workers, len(configs))) {
		wg.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				u, err := New(configs[i])
				var history []rimewatch.Reading
				if err == nil {
					history = u.History(to)
				}
				mu.Lock()
				if err == nil {
					done(i, u, history)
				} else if first == nil {
					first = fmt.Errorf("unit %d: %w", i, err)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return first
}
