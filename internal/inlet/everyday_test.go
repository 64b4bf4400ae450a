package inlet

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// everyday are words that people give to rooms, units and shelves. One in fifty means
// something else beside a temperature.
var everyday = strings.Fields(`
	apple apricot attic aunt autumn avocado baby bacon bagel bakery balcony banana banquet barn basement basil basket bay bean bear beaver bed bee beetle bell bench berry bicycle bird
	biscuit blanket blossom blue boat bonbon book boot bottle boulder bowl branch brass bread breakfast brick bridge bright broccoli bronze brown brush bucket buffet bunker butcher butter
	button cabin cactus cafe cake camel camera candle candy canoe canteen canyon captain caramel carpet carrot castle cat catering cave cedar celery cellar chalk champagne chapel charlie
	cheese chef cherry chestnut chicken chimney chocolate church cider cinema circus citrus clay clinic clock cloud clover coast cobalt cocoa coconut coffee comet compass copper coral cork
	corner cottage cotton country courtyard cousin crane cream creek crimson crown crystal cucumber cupboard curry curtain customer daisy dance daughter dawn deck deer delivery delta desert
	desk dessert diamond diner dining dinner doctor dog dolphin donkey donut dragon dream duck dune eagle east easter echo egg elbow elder elephant elm ember emerald engine entrance espresso
	evening evergreen express falcon family farm feather fern ferry festival fiddle fig finger fire first flag flamingo forest fork fortune fountain fox fresh friday friend frost garage
	garden garlic gate gelato george ginger giraffe glacier glass golden goose granite grandma grape grass gravy green grey grill grocery grove guest guitar gull hall hammer harbor harvest
	hat hawk hay hazel health hedge helmet herb heron hill hilton honey horizon horse hospital hotel house hummus icicle igloo indigo ink island ivory ivy jacket jade jam jar jasmine jazz
	jelly jewel john juice july june jungle juniper kangaroo kebab kettle key king kiosk kite kitten kiwi koala lab ladder lake lamb lamp lantern larder laundry lavender lawn leaf leather
	lemon lemonade leopard lettuce library lily lime linen lion lobby lobster locker loft london lotus lounge lunch machine magenta magnet magnolia mailbox mango manor maple marble margarita
	marina market marmalade mary meadow melon member merlin mint mirror mobile monday monkey moon morning moss mother motel mountain mouse muffin museum mushroom music mustard napkin narrow
	needle nest night noodle north nurse nursery nut oak oasis oat ocean office olive onion opal orange orchard orchid oregano oven owl oyster pad paddle palace palm pan pancake panda paper
	paprika papaya park parking parlor parrot parsley party pasta pastry patio peach peacock peanut pear pearl pebble pelican pen pencil penguin penny pepper perfume petal piano pickle picnic
	pie pigeon pilot pine pineapple pink pipe pistachio pizza planet plate platinum plaza plum pocket pond pony poppy porch porridge port potato pottery prairie pretzel prince pudding puffin
	pumpkin puppy purple quail quartz queen quiche quilt rabbit raccoon radish rail rain rainbow raisin ranch raven ravioli receipt red reef restaurant ribbon rice ridge river road robin rock
	rocket roof rooster rope rose rosemary round royal ruby rug rye saddle saffron sage sail salmon salt sandwich sapphire sauce sausage school seal season second seed shadow shed sheep shell
	shelter sherbet shoe short shrimp silk silver sister skate sky slipper small smoke snack snow soap sofa sorbet soup south spare spice spinach spoon spring spruce square squash squirrel stable
	staff stage stairs star station steak steel stone stool storm strawberry stream street studio sugar summer sun sunday sunflower sunset supper sushi swan sweet syrup table taco tail tango
	tapas tea teapot terrace theater thistle thyme ticket tiger timber toast tomato tower town toy train tray treasure tree truffle trumpet trunk tulip tuna tunnel turkey turnip turtle twig
	umbrella uncle upstairs valley van vanilla velvet venue veranda village vine vinegar violet violin waffle wagon waiter walnut warm washer waste watch waterfall wave wax weasel wedding west whale
	wheat wheel whisky white willow window wing winter wolf wood wool yard yellow yogurt young zebra zinc zone battery board control core counter head high internal label last limit low main mean
	model motor network number panel raw report return set state target unit version`)

// tellers are members by which sensors of a board are told apart.
var tellers = strings.Fields("address ch channel port number slave rom probe label location position point tag endpoint name sensor id node_id nodeId node slot shelf unit_no tank_number fridge zone probe_id deviceId asset_id")

// beside are members by which a message says of which sensor of its board it is.
var beside = strings.Fields("channel ch slave node node_id sensor_id probe position slot input unit_no probe_id")

// message makes a message of the sensors in a shape, of which every one is there. Each
// always measures values of its own ten degrees.
func message(r *rand.Rand, shape int, names []string, unit bool, at int64, sensors []int) map[string]any {
	body := map[string]any{"device": "K-1"}
	value := func(i int) float64 { return float64(-60+10*i) + float64(1+r.IntN(80))/10 + 0.05 }
	key := func(i int) string { return names[i] + "_temperature" }
	if !unit && r.IntN(2) == 0 {
		key = func(i int) string { return "temp_" + names[i] }
	}
	var list []any
	for _, i := range sensors {
		switch shape {
		case 0: // a member each
			if body[key(i)] = value(i); unit {
				body[key(i)] = fmt.Sprintf("%.2f °C", body[key(i)])
			}
		case 1: // an object each
			object := map[string]any{"temperature": value(i), "rssi": -60}
			if unit {
				object["unit"] = "°C"
			}
			body[names[i]] = object
		case 2: // a list of objects with names
			object := map[string]any{"name": names[i], "temperature": value(i), "humidity": 50}
			if unit {
				object["temp_unit"] = "C"
			}
			list = append(list, object)
		case 3: // values with a unit beside
			if object := map[string]any{"value": value(i)}; unit {
				object["unit_of_measurement"] = "°C"
				body[names[i]] = object
			} else {
				body[key(i)] = object
			}
		case 4: // a message each, which says of which it is
			body[beside[int(names[0][0])%len(beside)]], body["temperature"] = i+1, value(i)
		default: // a bus
			told := any(fmt.Sprintf("28-%04d", i))
			if shape%2 == 0 {
				told = i + 1
			}
			list = append(list, map[string]any{tellers[shape/2%len(tellers)]: told, "temperature": value(i)})
		}
	}
	if len(list) > 0 {
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		body["sensors"] = list
	}
	for range r.IntN(2) {
		body = map[string]any{"device": "K-1", "data": body}
	}
	if at != 0 {
		body["ts"] = at
	}
	return body
}

// TestEverydayNames: whatever people call their sensors, each value of a message is read,
// waits or is named; no device ever has those of two sensors, and no temperature becomes
// anything else.
func TestEverydayNames(t *testing.T) {
	lib := library(t)
	r := rand.New(rand.NewPCG(11, 2000))
	alone, accepted := 0, 0
	for round := range 2500 {
		n := max(1, r.IntN(9)-2)
		names := make([]string, n)
		used := map[string]bool{}
		for i := range names {
			for names[i] == "" || used[names[i]] {
				if names[i] = everyday[r.IntN(len(everyday))]; r.IntN(3) == 0 {
					names[i] += "_" + everyday[r.IntN(len(everyday))]
				}
			}
			used[names[i]] = true
		}
		shape, unit, known := r.IntN(5), r.IntN(2) == 0, r.IntN(2) == 0
		if r.IntN(3) == 0 {
			shape = 5 + r.IntN(2*len(tellers))
		}
		devices := map[string]*Binding{} // by the name of their sender, as package source keeps them
		if known {
			devices["K-1"] = &Binding{Serial: "K-1"}
		}
		holds := map[string]int{} // which sensor a sender has
		for m := range 3 {
			sensors := r.Perm(n)
			if m > 0 && n > 1 && r.IntN(2) == 0 {
				sensors = sensors[:1+r.IntN(n-1)]
			}
			if shape == 4 {
				sensors = sensors[:1]
			}
			at := int64(0)
			if r.IntN(2) == 0 {
				at = 1795202410 + int64(m)
			}
			body, err := json.Marshal(message(r, shape, names, unit, at, sensors))
			if err != nil {
				t.Fatal(err)
			}
			result := lib.Decode(&Payload{Body: body}, func(id, part string) []*Binding {
				if b := devices[NameOf(id, part)]; b != nil {
					return []*Binding{b}
				}
				return nil
			})
			found := 0
			for i := range result.Items {
				x := &result.Items[i]
				for j := range x.Readings {
					one := &x.Readings[j]
					if one.Serial == "" && !x.Split && (x.Part == "" || devices[x.ID] == nil) { // a new sender is registered
						one.Serial = x.Name()
						devices[x.Name()] = &Binding{Serial: x.Name()}
					}
					for f, v := range one.Reading.All() {
						if f == rimewatch.Humidity && v == 50 {
							continue
						}
						if f != rimewatch.ProductZoneTemp {
							t.Fatalf("%s: %v = %v", body, f, v)
						}
						found++
						of := int(v+60.0001) / 10
						if was, ok := holds[x.Name()]; ok && was != of {
							t.Fatalf("round %d, %s: %s has the values of %s and %s", round, body, x.Name(), names[was], names[of])
						}
						holds[x.Name()] = of
					}
					for _, f := range one.Fields {
						if f.LeftOut() && f.Name == rimewatch.ProductZoneTemp.String() {
							found++
						}
					}
					if one.Senses && one.Serial != "" {
						devices[x.Name()] = &Binding{Serial: one.Serial, Probe: one.Probe, Settled: true}
					}
				}
			}
			if found < len(sensors) {
				t.Fatalf("round %d, %s: %d of %d are accounted for", round, body, found, len(sensors))
			}
			if n == 1 && unit && known && m == 0 {
				if alone++; found == 1 && !result.Items[0].Readings[0].Empty() {
					accepted++
				}
			}
		}
	}
	if alone < 100 || accepted*100 < 98*alone {
		t.Errorf("%d of %d that say their unit are accepted", accepted, alone)
	}
	t.Logf("%d of %d", accepted, alone)
}
