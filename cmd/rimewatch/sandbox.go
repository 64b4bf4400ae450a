package main

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/sandbox"
	"github.com/rimewatch/rimewatch/internal/simulate"
)

// simulated makes the devices of sandboxes.
func simulated(equipmentType string, seed uint64, start rimewatch.Time) (sandbox.Unit, error) {
	u, err := simulate.New(simulate.Config{Equipment: equipmentType, Seed: seed, Start: start})
	return simulatedUnit{u}, err
}

// simulatedUnit is a unit of a sandbox.
type simulatedUnit struct{ *simulate.Unit }

// Break implements sandbox.Unit.
func (u simulatedUnit) Break(fault string) error {
	if fault == "" {
		return u.Unit.Break()
	}
	return u.Unit.Break(simulate.Fault{Name: fault})
}
