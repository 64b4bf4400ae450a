package simulate

import (
	"math"
	"sync"
)

// fluid holds what the vapour-compression cycle needs of a refrigerant.
// Saturation pressure is tabulated, together with the two powers of it that
// the compressor model takes, because this is asked four times a step.
type fluid struct {
	gas       float64 // specific gas constant, J/(kg K)
	z         float64 // compressibility of the suction gas
	k         float64 // isentropic exponent
	hfg0      float64 // latent heat at 0 °C, J/kg
	hfgSlope  float64 // loss of latent heat, J/(kg K)
	cpLiquid  float64 // J/(kg K)
	cpVapour  float64 // J/(kg K)
	saturated [tableLen]satPoint
}

// satPoint is p in Pa and its powers with exponents (k−1)/k and 1/1.08.
type satPoint struct{ p, isentropic, clearance float64 }

const (
	tableMin  = -85.0 // °C
	tableMax  = 90.0
	tableStep = 0.05 // K
	tableLen  = int((tableMax-tableMin)/tableStep) + 2

	// reexpansion is the polytropic exponent of the gas left in the clearance
	// volume of the compressor.
	reexpansion = 1.08
	kelvin      = 273.15
)

// ancillary is CoolProp's form of a saturation curve (Bell et al. 2014,
// doi:10.1021/ie4033999): p = pr·exp(Tr/T·Σ nᵢ·(1−T/Tr)^tᵢ), K and Pa.
type ancillary struct {
	tr, pr float64
	n, t   [6]float64
}

func (a *ancillary) pressure(celsius float64) float64 {
	t := celsius + kelvin
	theta := 1 - t/a.tr
	if theta <= 0 {
		return a.pr
	}
	sum := 0.0
	for i, n := range a.n {
		sum += n * math.Pow(theta, a.t[i])
	}
	return a.pr * math.Exp(a.tr/t*sum)
}

// The coefficients are those of CoolProp's dev/fluids (dew line for the blend
// R404A). Latent heats are straight lines through CoolProp's values between
// −40 and +10 °C, compressibilities are those of the suction state.
var fluids = sync.OnceValue(func() map[string]*fluid {
	return map[string]*fluid{
		"R404A": newFluid(fluid{gas: 85.19, z: 0.93, k: 1.12, hfg0: 166e3, hfgSlope: 785, cpLiquid: 1450, cpVapour: 800}, &ancillary{
			tr: 345.27, pr: 3734800,
			n: [6]float64{-5.364477716661244, -1.4230007624991121, 3.314690272990208, -5.181329955404622, -3.360484849212965, -551.2801078830697},
			t: [6]float64{0.951, 1.13, 2.426, 2.778, 5.072, 16.153},
		}),
		"R134a": newFluid(fluid{gas: 81.49, z: 0.94, k: 1.11, hfg0: 198.6e3, hfgSlope: 715, cpLiquid: 1400, cpVapour: 880}, &ancillary{
			tr: 374.21, pr: 4059280,
			n: [6]float64{0.4331478287291047, -9.090302559074352, 2.1476074125217703, -1.557687007603464, -3.5020328972698604, 14.958442337201044},
			t: [6]float64{0.845, 0.99, 1.14, 2.651, 4.507, 17.235},
		}),
		"R290": newFluid(fluid{gas: 188.56, z: 0.92, k: 1.13, hfg0: 375e3, hfgSlope: 1180, cpLiquid: 2650, cpVapour: 1750}, &ancillary{
			tr: 369.89, pr: 4251200,
			n: [6]float64{-23.998635747391152, 18.313017605233238, -0.42240851966839504, -2.7378298813798962, 0.257888414168987, -1.3113462226130785},
			t: [6]float64{1.05, 1.084, 2.259, 4.287, 7.66, 18.584},
		}),
	}
})

func newFluid(f fluid, a *ancillary) *fluid {
	for i := range f.saturated {
		p := a.pressure(tableMin + float64(i)*tableStep)
		f.saturated[i] = satPoint{p, math.Pow(p, (f.k-1)/f.k), math.Pow(p, 1/reexpansion)}
	}
	return &f
}

// at returns the saturated state at a temperature in °C, held inside the table.
func (f *fluid) at(celsius float64) satPoint {
	x := (min(max(celsius, tableMin), tableMax) - tableMin) / tableStep
	i := int(x)
	w := x - float64(i)
	a, b := &f.saturated[i], &f.saturated[i+1]
	return satPoint{a.p + w*(b.p-a.p), a.isentropic + w*(b.isentropic-a.isentropic), a.clearance + w*(b.clearance-a.clearance)}
}

func (f *fluid) latent(celsius float64) float64 { return f.hfg0 - f.hfgSlope*celsius }

const (
	seaLevel   = 101325.0 // Pa
	airDensity = 1.25     // kg/m³ of cold air
	airHeat    = 1006.0   // J/(kg K)
)

// vapourPressure is that of saturated air over water or ice, Pa (Magnus form,
// WMO No. 8).
func vapourPressure(celsius float64, ice bool) float64 {
	if ice {
		return 611.2 * math.Exp(22.46*celsius/(272.62+celsius))
	}
	return 611.2 * math.Exp(17.62*celsius/(243.12+celsius))
}

// humidityRatio is kg of vapour per kg of dry air at a vapour pressure in Pa.
func humidityRatio(pressure float64) float64 { return 0.622 * pressure / (seaLevel - pressure) }

// relativeHumidity is in %, over water also below 0 °C as sensors report it.
func relativeHumidity(celsius, ratio float64) float64 {
	p := ratio * seaLevel / (0.622 + ratio)
	return min(100, max(0, 100*p/vapourPressure(celsius, false)))
}

// saturation tabulates the humidity ratio of air saturated over ice (below
// 0 °C) or water, every 0.1 K from −60 to 60 °C.
var saturation = sync.OnceValue(func() *[1202]float64 {
	var t [1202]float64
	for i := range t {
		c := -60 + float64(i)/10
		t[i] = humidityRatio(vapourPressure(c, c < 0))
	}
	return &t
})

func saturatedRatio(table *[1202]float64, celsius float64) float64 {
	x := (min(max(celsius, -60), 60) + 60) * 10
	i := int(x)
	return table[i] + (x-float64(i))*(table[i+1]-table[i])
}
