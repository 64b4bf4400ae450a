package simulate

// Params describes one unit: its box, its refrigeration circuit, its supply
// and how it is used. Base units throughout unless a comment says otherwise.
type Params struct {
	Refrigerant string  // "R404A", "R134a" or "R290"
	Setpoint    float64 // °C at which the thermostat stops the compressor
	Diff        float64 // K above Setpoint at which it starts it again

	// The box.
	UA         float64 // W/K through the walls
	Internal   float64 // W of fans, lights, heaters and people
	AirC       float64 // J/K of air and liner
	ProductC   float64 // J/K of goods
	ProductUA  float64 // W/K between goods and air
	Moisture   float64 // kg of air that takes up vapour, with what liner and packaging buffer
	Evaporate  float64 // kg/s per unit of humidity ratio between goods and air
	Leak       float64 // m³/s of outside air, always
	DoorFlow   float64 // m³/s of outside air through the open door
	DoorsAnHr  float64 // openings an hour by day
	DoorS      float64 // s that an opening lasts, mean
	Ajar       float64 // share of DoorFlow that a door left open lets in for hours, past strips and curtains
	AmbientK   float64 // K by which its condenser stands warmer than the site
	AmbientVar float64 // share of the site's swings that reaches it

	// The circuit.
	Displacement float64 // m³/s of the compressor
	Isentropic   float64 // efficiency
	HeatLoss     float64 // share of the compression heat lost before the discharge sensor
	AirUA        float64 // W/K, evaporator to air
	CoilUA       float64 // W/K, refrigerant to evaporator
	CondenserUA  float64 // W/K
	CoilC        float64 // J/K of the evaporator
	FrostM       float64 // kg of frost that halves the air-side conductance
	MeltUA       float64 // W/K of coil to melting frost
	Superheat    float64 // K at the evaporator's outlet
	Subcooling   float64 // K at the valve
	LineGain     float64 // share of the way to ambient that the suction line warms up
	MOP          float64 // °C, highest evaporating temperature that the valve allows
	HighTrip     float64 // °C of condensing temperature at which the pressure control stops it
	LowTrip      float64 // °C of evaporating temperature, likewise

	// Defrost.
	Defrosts    float64 // per day
	DefrostW    float64 // heater, 0 = the air of the room melts the ice
	DefrostEndC float64 // °C of coil that ends a heated defrost
	DefrostS    float64 // s, longest
	DefrostAt   float64 // share of the interval between defrosts at which they lie

	// The supply.
	Volts       float64 // nominal
	Phases      int     // 1 or 3
	RatedAmps   float64 // rated-load current
	LockedAmps  float64 // locked-rotor current
	MotorEff    float64
	Magnetising float64 // A
	FanAmps     float64 // A of the condenser fan
	IdleAmps    float64 // A of what runs with the compressor off
	Vibration   float64 // mm/s at rated load

	// The sensors.
	ZoneLag float64 // s

	Build
}

// The five types that the model was fitted to. Conductances, masses and
// efficiencies follow the table of the domain notes; internal gains, suction
// line gains and magnetising currents were set so that each unit shows the
// duty, suction temperature and current that the table gives for a healthy
// week.
func baseParams(equipment string) (Params, bool) {
	switch equipment {
	case "walkin_freezer":
		return Params{
			Refrigerant: "R404A", Setpoint: -21, Diff: 2,
			UA: 19, Internal: 300, AirC: 200e3, ProductC: 2500e3, ProductUA: 150,
			Moisture: 60, Evaporate: 0.002, Leak: 0.0015, DoorFlow: 0.18, DoorsAnHr: 5, DoorS: 25, Ajar: 0.12, AmbientVar: 1,
			Displacement: 3.8e-3, Isentropic: 0.65, HeatLoss: 0.26, AirUA: 640, CoilUA: 1500, CondenserUA: 430,
			CoilC: 60e3, FrostM: 5, MeltUA: 250, Superheat: 4, Subcooling: 4, LineGain: 0.38, MOP: -14, HighTrip: 58, LowTrip: -46,
			Defrosts: 4, DefrostW: 2600, DefrostEndC: 11, DefrostS: 2400,
			Volts: 230, Phases: 1, RatedAmps: 17, LockedAmps: 95, MotorEff: 0.86, Magnetising: 6.9, FanAmps: 1.1, Vibration: 0.9,
			ZoneLag: 300,
		}, true
	case "walkin_cooler":
		return Params{
			Refrigerant: "R134a", Setpoint: 1.5, Diff: 2,
			UA: 26, Internal: 560, AirC: 260e3, ProductC: 4000e3, ProductUA: 160,
			Moisture: 80, Evaporate: 0.02, Leak: 0.003, DoorFlow: 0.20, DoorsAnHr: 10, DoorS: 20, Ajar: 0.45, AmbientVar: 1,
			Displacement: 3.6e-3, Isentropic: 0.66, HeatLoss: 0.22, AirUA: 560, CoilUA: 1400, CondenserUA: 420,
			CoilC: 50e3, FrostM: 8, MeltUA: 200, Superheat: 5, Subcooling: 4, LineGain: 0.4, MOP: 8, HighTrip: 66, LowTrip: -26,
			Defrosts: 4, DefrostS: 1500,
			Volts: 230, Phases: 1, RatedAmps: 12, LockedAmps: 66, MotorEff: 0.86, Magnetising: 4.5, FanAmps: 0.9, Vibration: 0.8,
			ZoneLag: 240,
		}, true
	case "reach_in_cooler":
		return Params{
			Refrigerant: "R290", Setpoint: 1.5, Diff: 2.5,
			UA: 2.6, Internal: 46, AirC: 26e3, ProductC: 280e3, ProductUA: 12,
			Moisture: 6, Evaporate: 0.0012, Leak: 0.0001, DoorFlow: 0.03, DoorsAnHr: 18, DoorS: 10, Ajar: 0.4, AmbientVar: 1,
			Displacement: 0.27e-3, Isentropic: 0.58, HeatLoss: 0.40, AirUA: 46, CoilUA: 110, CondenserUA: 40,
			CoilC: 6e3, FrostM: 0.7, MeltUA: 20, Superheat: 5, Subcooling: 3, LineGain: 0.58, MOP: 8, HighTrip: 66, LowTrip: -30,
			Defrosts: 4, DefrostS: 1200,
			Volts: 120, Phases: 1, RatedAmps: 4.2, LockedAmps: 24, MotorEff: 0.68, Magnetising: 1.85, FanAmps: 0.25, IdleAmps: 0.2, Vibration: 0.6,
			ZoneLag: 150,
		}, true
	case "display_case_open":
		return Params{
			Refrigerant: "R404A", Setpoint: 1, Diff: 2,
			UA: 12, Internal: 250, AirC: 80e3, ProductC: 500e3, ProductUA: 330,
			Moisture: 12, Evaporate: 0.008, Leak: 0.055, DoorFlow: 0.20, Ajar: 0.4, AmbientVar: 0.5,
			Displacement: 3.0e-3, Isentropic: 0.66, HeatLoss: 0.24, AirUA: 560, CoilUA: 1500, CondenserUA: 480,
			CoilC: 40e3, FrostM: 10, MeltUA: 200, Superheat: 5, Subcooling: 4, LineGain: 0.37, MOP: 5, HighTrip: 62, LowTrip: -30,
			Defrosts: 6, DefrostS: 2100,
			Volts: 400, Phases: 3, RatedAmps: 6.5, LockedAmps: 38, MotorEff: 0.86, Magnetising: 3, FanAmps: 0.5, IdleAmps: 0.15, Vibration: 0.9,
			ZoneLag: 150,
		}, true
	case "vaccine_refrigerator":
		return Params{
			Refrigerant: "R290", Setpoint: 4.2, Diff: 1.4,
			UA: 1.5, Internal: 14, AirC: 18e3, ProductC: 120e3, ProductUA: 3,
			Moisture: 3, Evaporate: 0.0006, Leak: 0.00005, DoorFlow: 0.012, DoorsAnHr: 3, DoorS: 12, Ajar: 0.6, AmbientVar: 0.6,
			Displacement: 0.13e-3, Isentropic: 0.55, HeatLoss: 0.48, AirUA: 28, CoilUA: 70, CondenserUA: 22,
			CoilC: 4e3, FrostM: 0.5, MeltUA: 8, Superheat: 5, Subcooling: 3, LineGain: 0.6, MOP: 8, HighTrip: 66, LowTrip: -30,
			Defrosts: 2, DefrostS: 720,
			Volts: 230, Phases: 1, RatedAmps: 1.2, LockedAmps: 8, MotorEff: 0.58, Magnetising: 0.66, FanAmps: 0.1, IdleAmps: 0.08, Vibration: 0.35,
			ZoneLag: 600,
		}, true
	}
	return Params{}, false
}
