package simulate

import "math"

const (
	heatOfFusion    = 334e3  // J/kg
	heatOfFrosting  = 2834e3 // J/kg, vapour to ice
	heatOfDewing    = 2500e3 // J/kg, vapour to water
	stillAir        = 0.03   // share of the air-side conductance without fans
	heaterLimit     = 45.0   // °C of coil at which the heater's safety thermostat opens
	frostEfficiency = 0.9    // of the coil as a mass exchanger
)

// stepBox moves air, goods, coil, frost and vapour by dt seconds (explicit
// Euler: the fastest of them, the coil, has a time constant above 20 s).
func (u *Unit) stepBox(dt float64) {
	p := &u.p
	ambient := u.sur.ambient + p.AmbientK
	inflow := airDensity * (p.Leak + (u.doorOpen+u.eff.doorAjar*p.Ajar+u.eff.gasket)*p.DoorFlow)

	exchange := p.AirUA * u.eff.airSide * u.clear
	internal := p.Internal
	switch {
	case !u.eff.power:
		exchange *= stillAir
		internal = 0
	case u.fansOn():
		exchange *= max(stillAir, u.eff.fans)
	default:
		exchange *= stillAir
		internal *= 0.6
	}
	fromAir := exchange * (u.air - u.coil)
	vapour, latent := u.moisture(exchange, dt)
	heat := 0.0
	if u.ctl.phase == melting && u.eff.power && u.coil < heaterLimit {
		heat = p.DefrostW * u.eff.heater
		if p.HotGas && !u.ctl.running {
			heat = 0
		}
	}
	u.coil += dt / p.CoilC * (fromAir + latent - u.cy.capacity + heat - u.melt(dt))

	toGoods := p.ProductUA * (u.air - u.goods)
	u.air += dt / p.AirC * (p.UA*(ambient-u.air) + internal - toGoods + inflow*airHeat*(ambient-u.air) - fromAir)
	u.goods += dt / p.ProductC * toGoods

	fromGoods := p.Evaporate * (saturatedRatio(u.sat, u.goods) - u.ratio)
	u.ratio = max(1e-5, u.ratio+dt/p.Moisture*(inflow*(u.outsideRatio-u.ratio)-vapour+fromGoods))
	// What the air cannot hold settles on goods and walls, as snow in a freezer.
	if excess := u.ratio - saturatedRatio(u.sat, u.air); excess > 0 {
		u.ratio -= excess * dt / 30
	}
}

// moisture moves vapour between air and coil: the flow in kg/s and the heat
// that it brings to the coil in W. Below 0 °C it becomes frost, above it runs
// off; dry air takes frost away again.
func (u *Unit) moisture(exchange, dt float64) (flow, latent float64) {
	flow = exchange / airHeat * frostEfficiency * (u.ratio - saturatedRatio(u.sat, u.coil))
	if u.coil >= 0 {
		flow = max(0, flow)
		return flow, flow * heatOfDewing
	}
	flow = max(flow, -u.frost/dt)
	u.frost = max(0, u.frost+flow*dt)
	return flow, flow * heatOfFrosting
}

// melt takes ice off a coil above 0 °C and returns the heat that needs, W. The
// last of the ice touches less of the coil.
func (u *Unit) melt(dt float64) float64 {
	if u.coil <= 0 || u.frost <= 0 {
		return 0
	}
	contact := min(1, u.frost/(0.02*u.p.FrostM))
	heat := min(u.p.MeltUA*u.eff.melt*contact*u.coil, u.frost*heatOfFusion/dt)
	u.frost = max(0, u.frost-heat*dt/heatOfFusion)
	return heat
}

// clearance is the share of the air-side conductance that frost leaves.
func (u *Unit) clearance() float64 {
	return 1 / (1 + math.Pow(u.frost/u.p.FrostM, 1.7))
}
