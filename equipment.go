package rimewatch

import "strings"

// Category groups equipment types for people.
type Category string

// The categories of equipment.
const (
	CategoryFreezer    Category = "freezer"
	CategoryCooler     Category = "cooler"
	CategoryMedical    Category = "medical"
	CategoryTransport  Category = "transport"
	CategoryIce        Category = "ice"
	CategoryCompressor Category = "compressor"
	CategoryOther      Category = "other"
)

// Categories lists all categories.
func Categories() []Category {
	return []Category{CategoryFreezer, CategoryCooler, CategoryMedical, CategoryTransport, CategoryIce, CategoryCompressor, CategoryOther}
}

// DefrostKind is how a unit gets rid of the frost on its evaporator.
type DefrostKind string

// The kinds of defrost.
const (
	DefrostNone     DefrostKind = "none"
	DefrostOffCycle DefrostKind = "off_cycle" // compressor off, room air melts
	DefrostElectric DefrostKind = "electric"
	DefrostHotGas   DefrostKind = "hot_gas"
	DefrostAdaptive DefrostKind = "adaptive"
	DefrostManual   DefrostKind = "manual"
	DefrostHarvest  DefrostKind = "harvest" // ice machines
)

// Defrost is a type's habit of defrosting.
type Defrost struct {
	Kind       DefrostKind `json:"type"`
	PerDay     int         `json:"per_day"`
	MaxMin     int         `json:"max_min"`     // min, longest regular defrost
	ExcursionK float64     `json:"excursion_k"` // K, how far the zone air rises in one
	RecoverMin int         `json:"recover_min"` // min from its end until the zone is back
}

// Equipment is a type of unit with the limits and habits that hold for it
// unless a device says otherwise.
type Equipment struct {
	Slug     string
	Label    string
	Category Category
	Setpoint *float64 // °C, usual; nil where there is none
	Limits   Limits
	Defrost  Defrost
	TCS      bool   // holds time/temperature-controlled-for-safety food: 2 h outside the range is critical
	Basis    string // where the limits come from
}

// HasZone reports whether the type keeps goods, so that a product-zone
// temperature is to be expected of it.
func (e *Equipment) HasZone() bool { return e.Category != CategoryCompressor }

// OtherEquipment is the type of devices that name none that is known.
const OtherEquipment = "other"

// ChillsBatches reports whether units of the type are loaded hot, again and again, instead
// of keeping one temperature.
func (e *Equipment) ChillsBatches() bool {
	return e.Slug == "blast_chiller" || e.Slug == "blast_freezer"
}

// EquipmentTypes lists the catalogue. Limits follow FDA Food Code 3-501.16
// (≤ 5 °C), EU directive 89/108/EEC (≤ −18 °C product), EN ISO 23953 classes
// M1/M2/L1 and the CDC vaccine ranges as named in each Basis; delays, critical
// values and defrost habits are trade practice.
func EquipmentTypes() []Equipment { return equipmentTypes[:] }

// EquipmentBySlug returns a type; for an unknown slug "other" and false.
func EquipmentBySlug(slug string) (*Equipment, bool) {
	for i := range equipmentTypes {
		if equipmentTypes[i].Slug == slug {
			return &equipmentTypes[i], true
		}
	}
	return &equipmentTypes[len(equipmentTypes)-1], false
}

// NearestEquipment returns the type whose slug or label is spelt most like text,
// case, spaces and punctuation aside; nil when none is within a third of its
// letters.
func NearestEquipment(text string) *Equipment {
	letters := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
				return r
			}
			return -1
		}, strings.ToLower(s))
	}
	want := letters(text)
	best, least := (*Equipment)(nil), len(want)/3
	for i := range equipmentTypes {
		e := &equipmentTypes[i]
		for _, name := range [...]string{letters(e.Slug), letters(e.Label)} {
			if d := EditDistance(want, name); d < least || (d == least && best == nil) {
				best, least = e, d
			}
		}
	}
	return best
}

// EditDistance returns the number of bytes to insert, delete or replace that turns
// a into b (Levenshtein, 1966). It allocates only for a b longer than 63 bytes.
func EditDistance(a, b string) int {
	var room [64]int
	row := room[:0]
	for j := range len(b) + 1 {
		row = append(row, j)
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			above := row[j+1]
			d := diagonal
			if a[i] != b[j] {
				d = 1 + min(diagonal, above, row[j])
			}
			diagonal, row[j+1] = above, d
		}
	}
	return row[len(b)]
}

var none *float64

func deg(v float64) *float64 { return &v }

// limits takes bounds in °C and delays in minutes. An excursion ends after
// 5 minutes inside by 0.5 K.
func limits(low, high *float64, delayMin, lowDelayMin int, criticalLow, criticalHigh *float64, criticalDelayMin int) Limits {
	return Limits{
		TempMin: low, TempMax: high, DelayS: delayMin * 60, LowDelayS: lowDelayMin * 60,
		CriticalMin: criticalLow, CriticalMax: criticalHigh, CriticalDelayS: criticalDelayMin * 60,
		ClearDelta: 0.5, ClearS: 300, Source: "equipment_type",
	}
}

// medicine adds to limits the minutes within 24 h after which medicine that cannot be
// seen to be spoilt is looked at: an hour too warm, and a quarter of one below what
// destroys it.
func medicine(l Limits) Limits {
	warm, cold := 60, 15
	l.ExposureMinPerDay = ExposureLimits{Warm: &warm, Cold: &cold}
	return l
}

// The last row is "other". Ice machines are not judged by a band: a harvest
// leaves it every quarter of an hour.
var equipmentTypes = [...]Equipment{
	{"walkin_freezer", "Walk-in freezer", CategoryFreezer, deg(-21), limits(deg(-30), deg(-15), 60, 60, none, deg(-12), 60), Defrost{DefrostElectric, 4, 40, 8, 60}, false, "frozen food: FDA 3-501.11 and EU quick-frozen foods, −18 °C in the product"},
	{"walkin_cooler", "Walk-in cooler", CategoryCooler, deg(2.5), limits(deg(0), deg(5), 45, 30, none, deg(7), 120), Defrost{DefrostOffCycle, 4, 25, 3, 30}, true, "FDA 3-501.16: at most 5 °C"},
	{"reach_in_freezer", "Reach-in / upright freezer", CategoryFreezer, deg(-20), limits(deg(-30), deg(-15), 45, 45, none, deg(-12), 60), Defrost{DefrostElectric, 4, 30, 8, 45}, false, "frozen food"},
	{"reach_in_cooler", "Reach-in cooler", CategoryCooler, deg(2.5), limits(deg(0), deg(5), 45, 30, none, deg(7), 120), Defrost{DefrostOffCycle, 4, 20, 3, 30}, true, "FDA 3-501.16"},
	{"undercounter_cooler", "Under-counter cooler", CategoryCooler, deg(2.5), limits(deg(0), deg(5), 45, 30, none, deg(7), 120), Defrost{DefrostOffCycle, 4, 20, 3, 30}, true, "FDA 3-501.16"},
	{"undercounter_freezer", "Under-counter freezer", CategoryFreezer, deg(-20), limits(deg(-30), deg(-15), 45, 45, none, deg(-12), 60), Defrost{DefrostElectric, 4, 30, 8, 45}, false, "frozen food"},
	{"prep_table", "Prep / sandwich / pizza table (rail)", CategoryCooler, deg(2.5), limits(deg(0), deg(5), 60, 30, none, deg(7), 120), Defrost{DefrostOffCycle, 4, 20, 3, 30}, true, "FDA 3-501.16; the pans in the rail are warmer than the base"},
	{"display_case_open", "Open multideck / island, chilled", CategoryCooler, deg(1.5), limits(deg(-1), deg(5), 60, 30, none, deg(8), 120), Defrost{DefrostOffCycle, 6, 30, 6, 45}, true, "FDA 3-501.16; EN ISO 23953 class M1, −1 to 5 °C"},
	{"display_case_closed", "Glass-door merchandiser, chilled", CategoryCooler, deg(2), limits(deg(-1), deg(5), 45, 30, none, deg(7), 120), Defrost{DefrostOffCycle, 2, 30, 4, 45}, true, "FDA 3-501.16; EN ISO 23953 classes M1 and M2"},
	{"display_case_freezer", "Frozen display case (door/well)", CategoryFreezer, deg(-20), limits(deg(-28), deg(-15), 60, 60, none, deg(-12), 60), Defrost{DefrostElectric, 2, 40, 9, 60}, false, "EU quick-frozen foods, −18 °C; EN ISO 23953 class L1"},
	{"service_counter", "Serve-over deli / meat / fish counter", CategoryCooler, deg(1), limits(deg(-1), deg(5), 60, 30, none, deg(7), 120), Defrost{DefrostOffCycle, 4, 40, 4, 45}, true, "FDA 3-501.16; fish on melting ice"},
	{"beverage_cooler", "Bottle cooler / beer cave / vending", CategoryCooler, deg(3), limits(deg(0), deg(7), 120, 30, none, deg(12), 240), Defrost{DefrostOffCycle, 2, 25, 3, 30}, false, "drinks: quality, not food safety"},
	{"ice_cream_cabinet", "Ice-cream dipping / storage cabinet", CategoryFreezer, deg(-18), limits(deg(-30), deg(-12), 60, 60, none, deg(-9), 60), Defrost{DefrostManual, 1, 60, 8, 90}, false, "quality; −12 °C for scooping"},
	{"blast_chiller", "Blast chiller", CategoryCooler, deg(2), limits(deg(-5), deg(5), 15, 15, none, deg(8), 30), Defrost{DefrostOffCycle, 2, 20, 5, 20}, true, "from 70 to 3 °C in 90 minutes, then 0 to 3 °C"},
	{"blast_freezer", "Blast / shock freezer", CategoryFreezer, deg(-30), limits(deg(-45), deg(-18), 30, 30, none, deg(-12), 60), Defrost{DefrostHotGas, 2, 30, 10, 45}, false, "−18 °C in the core after 240 minutes"},
	{"ice_machine", "Ice machine (freeze/harvest cycle)", CategoryIce, deg(-8), limits(none, none, 0, 0, none, deg(10), 120), Defrost{DefrostHarvest, 0, 4, 0, 0}, false, "the length of its cycles counts, not a range; the bin at most 0 °C"},
	{"milk_cooler", "Bulk milk tank / dispenser", CategoryCooler, deg(3), limits(deg(0), deg(4.4), 30, 30, none, deg(7), 120), Defrost{DefrostNone, 0, 0, 0, 0}, true, "Pasteurized Milk Ordinance and US states: at most 4.4 °C (40 °F), or 7 °C (45 °F) within 2 hours; 10 °C when blending"},
	{"wine_cooler", "Wine / beverage cabinet", CategoryCooler, deg(12), limits(deg(7), deg(18), 120, 30, none, deg(22), 360), Defrost{DefrostOffCycle, 1, 20, 2, 30}, false, "quality"},
	{"floral_cooler", "Floral cooler", CategoryCooler, deg(2.5), limits(deg(1), deg(5), 90, 30, none, deg(8), 240), Defrost{DefrostOffCycle, 2, 25, 3, 30}, false, "quality; the air must be humid"},
	{"produce_cooler", "Produce / dairy cold room", CategoryCooler, deg(3), limits(deg(0), deg(7), 60, 30, none, deg(10), 240), Defrost{DefrostOffCycle, 3, 25, 3, 30}, true, "cut fruit and vegetables: at most 5 °C"},
	{"meat_cooler", "Meat / poultry cooler", CategoryCooler, deg(1), limits(deg(-1), deg(4), 45, 30, none, deg(7), 120), Defrost{DefrostOffCycle, 4, 25, 3, 30}, true, "EU 853/2004: meat 7 °C, poultry 4 °C, mince 2 °C"},
	{"fish_cooler", "Fish cooler", CategoryCooler, deg(0.5), limits(deg(-1), deg(2), 45, 30, none, deg(4), 120), Defrost{DefrostOffCycle, 4, 25, 3, 30}, true, "EU: temperature of melting ice"},
	{"vaccine_refrigerator", "Vaccine / pharmacy refrigerator", CategoryMedical, deg(5), medicine(limits(deg(2), deg(8), 15, 15, deg(0), deg(8), 60)), Defrost{DefrostAdaptive, 2, 12, 1, 15}, false, "CDC: 2 to 8 °C"},
	{"vaccine_freezer", "Vaccine / plasma freezer", CategoryMedical, deg(-25), medicine(limits(deg(-50), deg(-15), 15, 15, none, deg(-15), 60)), Defrost{DefrostElectric, 1, 20, 4, 30}, false, "CDC: −50 to −15 °C"},
	{"lab_freezer", "Laboratory freezer", CategoryMedical, deg(-25), medicine(limits(deg(-35), deg(-15), 30, 30, none, deg(-12), 60)), Defrost{DefrostManual, 1, 60, 6, 60}, false, "common practice in laboratories"},
	{"ult_freezer", "Ultra-low-temperature freezer", CategoryMedical, deg(-80), medicine(limits(deg(-90), deg(-60), 30, 30, none, deg(-60), 60)), Defrost{DefrostManual, 0, 0, 0, 0}, false, "CDC, ultra-cold: −90 to −60 °C; makers set alarms at −70 °C after 5 to 30 minutes"},
	{"blood_refrigerator", "Blood-bank refrigerator", CategoryMedical, deg(4), medicine(limits(deg(1), deg(6), 10, 10, none, deg(6), 30)), Defrost{DefrostAdaptive, 2, 10, 1, 15}, false, "AABB, 21 CFR 640: 1 to 6 °C"},
	{"morgue_cooler", "Mortuary cooler", CategoryCooler, deg(3), limits(deg(1), deg(5), 120, 30, none, deg(10), 480), Defrost{DefrostOffCycle, 2, 30, 3, 45}, false, "common practice"},
	{"reefer_container", "Refrigerated container / trailer, frozen default", CategoryTransport, deg(-20), limits(deg(-30), deg(-15), 120, 120, none, deg(-12), 120), Defrost{DefrostElectric, 4, 45, 8, 90}, false, "EU 37/2005, ATP; the setpoint of each trip"},
	{"reefer_truck", "Delivery van/truck, chilled default", CategoryTransport, deg(3), limits(deg(0), deg(5), 45, 30, none, deg(8), 120), Defrost{DefrostHotGas, 3, 20, 6, 45}, true, "ATP; short periods above it by EU 852/2004"},
	{"cold_storage", "Cold store / warehouse room", CategoryFreezer, deg(-22), limits(deg(-30), deg(-15), 120, 120, none, deg(-12), 120), Defrost{DefrostHotGas, 3, 30, 5, 90}, false, "EU 37/2005"},
	{"condensing_unit", "Stand-alone compressor (no box)", CategoryCompressor, none, limits(none, none, 0, 0, none, none, 0), Defrost{DefrostNone, 0, 0, 0, 0}, false, "only its compressor is watched"},
	{"other", "Unclassified", CategoryOther, none, limits(none, none, 60, 60, none, none, 120), Defrost{DefrostNone, 0, 0, 0, 0}, false, "set its limits yourself"},
}

// ShortRunGrace is how long the times out of range of one day may take together that are
// each shorter than the alarm delay, beside one such delay: as long as the type's defrosts at
// most, and at least two hours, but for medicines.
func (e *Equipment) ShortRunGrace() Time {
	grace := Time(e.Defrost.PerDay*e.Defrost.MaxMin) * Minute
	if e.Category == CategoryMedical {
		return grace
	}
	return max(grace, 2*Hour)
}
