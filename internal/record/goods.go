package record

import "github.com/rimewatch/rimewatch"

// Outcome is a possible disposition of the product of a case.
type Outcome struct {
	Detail      string // in English words, as disposition_detail keeps it
	Disposition rimewatch.Disposition
}

// Goods are the outcomes to choose from for the goods of a type of equipment, and the facts to be
// done first. Nothing of it is chosen beforehand.
type Goods struct {
	Kind     string // food, medicine or other
	Advice   string // English; "" = none
	Outcomes []Outcome
}

// none is the outcome that there was nothing in it.
var none = Outcome{"No product affected", rimewatch.DispositionNone}

// medicine that was out of its range is neither used nor thrown away before its manufacturer
// was asked: CDC, Vaccine Storage and Handling Toolkit (2024), "Temperature excursions".
var medicine = Goods{
	Kind:   "medicine",
	Advice: "Do not use it, do not discard it: quarantine it at its proper temperature and call the manufacturer.",
	Outcomes: []Outcome{
		{"Quarantined", rimewatch.DispositionHold},
		{"Manufacturer asked", rimewatch.DispositionHold},
		{"Released by the manufacturer", rimewatch.DispositionRelease},
		{"Discarded on the manufacturer's advice", rimewatch.DispositionDiscard},
		none,
	},
}

var food = Goods{
	Kind: "food",
	Outcomes: []Outcome{
		{"Used", rimewatch.DispositionRelease},
		{"Discarded", rimewatch.DispositionDiscard},
		{"Moved", rimewatch.DispositionHold},
		none,
	},
}

var other = Goods{
	Kind: "other",
	Outcomes: []Outcome{
		{"Released", rimewatch.DispositionRelease},
		{"On hold", rimewatch.DispositionHold},
		{"Discarded", rimewatch.DispositionDiscard},
		none,
	},
}

// GoodsOf returns the goods of a type of equipment; "" is that of a site, which may be anything.
func GoodsOf(equipmentType string) Goods {
	e, ok := rimewatch.EquipmentBySlug(equipmentType)
	switch {
	case !ok || e.Category == rimewatch.CategoryOther || e.Category == rimewatch.CategoryCompressor:
		return other
	case e.Category == rimewatch.CategoryMedical:
		return medicine
	default:
		return food
	}
}
