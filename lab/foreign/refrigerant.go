package foreign

import "math"

// refrigerant is a fluid by few numbers. Points are saturation pressures, kPa, at −30, 0
// and 40 °C (ASHRAE Handbook Fundamentals, ch. 30, tables of R-134a, R-290, R-600a and
// R-404A); between them Antoine's equation through the three.
type refrigerant struct {
	name       string
	pressures  [3]float64
	a, b, c    float64 // ln p = a − b/(T + c)
	molar      float64 // kg/kmol
	latent     float64 // J/kg at 0 °C
	latentK    float64 // J/kg and kelvin, by which it falls
	liquidHeat float64 // J/(kg·K)
	vapourHeat float64 // J/(kg·K), of superheated gas
	isentropic float64 // exponent of the gas, low because it is real
	compress   float64 // compressibility at the compressor's inlet
}

var (
	r134a = refrigerant{name: "R134a", pressures: [3]float64{84.4, 292.8, 1016.6}, molar: 102.0, latent: 198.6e3, latentK: 790, liquidHeat: 1370, vapourHeat: 950, isentropic: 1.11, compress: 0.93}.fitted()
	r290  = refrigerant{name: "R290", pressures: [3]float64{167.8, 474.5, 1369.4}, molar: 44.1, latent: 374.9e3, latentK: 1450, liquidHeat: 2550, vapourHeat: 1850, isentropic: 1.13, compress: 0.92}.fitted()
	r600a = refrigerant{name: "R600a", pressures: [3]float64{46.7, 157, 531}, molar: 58.1, latent: 354.3e3, latentK: 1050, liquidHeat: 2350, vapourHeat: 1700, isentropic: 1.10, compress: 0.96}.fitted()
	r404a = refrigerant{name: "R404A", pressures: [3]float64{209, 610, 1830}, molar: 97.6, latent: 165.8e3, latentK: 850, liquidHeat: 1420, vapourHeat: 1000, isentropic: 1.11, compress: 0.90}.fitted()
)

// fitted returns the fluid with Antoine's constants through its points.
func (r refrigerant) fitted() refrigerant {
	l1, l2, l3 := math.Log(r.pressures[0]), math.Log(r.pressures[1]), math.Log(r.pressures[2])
	const t1, t2, t3 = -30.0, 0.0, 40.0
	// (l2−l1)/(l3−l2) = (t2−t1)(t3+c)/((t3−t2)(t1+c)), solved for c.
	q := (l2 - l1) / (l3 - l2) * (t3 - t2) / (t2 - t1)
	r.c = (t3 - q*t1) / (q - 1)
	r.b = (l2 - l1) / (1/(t1+r.c) - 1/(t2+r.c))
	r.a = l1 + r.b/(t1+r.c)
	return r
}

// pressure is that of saturation, kPa.
func (r *refrigerant) pressure(t float64) float64 { return math.Exp(r.logPressure(t)) }

func (r *refrigerant) logPressure(t float64) float64 { return r.a - r.b/(t+r.c) }

// boiling is the heat of evaporation, J/kg.
func (r *refrigerant) boiling(t float64) float64 { return r.latent - r.latentK*t }

// density is that of the gas, kg/m³, at a pressure in kPa: the ideal gas's with a
// compressibility.
func (r *refrigerant) density(p, t float64) float64 {
	return p * r.molar / (r.compress * 8.314 * (t + 273.15))
}

// work is that of an isentropic compression by a pressure ratio, J/kg (ASHRAE Handbook HVAC Systems and
// Equipment, ch. 38).
func (r *refrigerant) work(logRatio, t float64) float64 {
	e := (r.isentropic - 1) / r.isentropic
	return r.compress * 8314 / r.molar * (t + 273.15) / e * (math.Exp(e*logRatio) - 1)
}

const (
	airHeat    = 1006.0 // J/(kg·K)
	iceLatent  = 334e3  // J/kg, melting
	vapLatent  = 2.50e6 // J/kg, condensing
	sublLatent = 2.83e6 // J/kg, onto ice
)

// saturated is the humidity ratio of saturated air at sea level, kg/kg, over ice below
// 0 °C (Magnus, coefficients of WMO No. 8).
func saturated(t float64) float64 {
	var p float64
	if t < 0 {
		p = 611.2 * math.Exp(22.46*t/(272.62+t))
	} else {
		p = 611.2 * math.Exp(17.62*t/(243.12+t))
	}
	return 0.622 * p / (101325 - p)
}

// exchange is the air, kg/s, that an open doorway exchanges (Gosney and Olama 1975, in
// ASHRAE Handbook Refrigeration, ch. 24), for an area in m² and a height in m.
func exchange(area, height, inside, outside float64) float64 {
	cold, warm := 353.0/(inside+273.15), 353.0/(outside+273.15)
	if cold <= warm {
		return 0.005 * area
	}
	f := math.Pow(2/(1+math.Cbrt(cold/warm)), 1.5)
	return 0.221 * area * cold * math.Sqrt(1-warm/cold) * math.Sqrt(9.81*height) * f
}
