// Package simulate is the physics of refrigerators and their faults: units
// that measure what a real one would, with causes that are known.
//
// # Use
//
// New makes a Unit from an equipment type, a seed and faults; Next runs it to
// its next reading; Truth returns what no sensor shows. A Feed puts a network
// behind it that loses, doubles and delays readings. NewFleet lays out many
// units at several sites, Generate simulates their past in parallel.
//
//	fault, err := simulate.ParseFault("fouling:0.8:21d")
//	fault.Onset = start
//	u, err := simulate.New(simulate.Config{
//		Equipment: "walkin_freezer", Seed: 7, Start: start, Faults: []simulate.Fault{fault},
//	})
//	history := u.History(now)
//
// # Model
//
// A unit is a box (air, goods, humidity), an evaporator coil with frost, a
// vapour-compression circuit, a controller with its protectors, and sensors.
// In every step of 5 s (10 s will do, the results differ little):
//
//   - The circuit is in equilibrium. Its evaporating temperature is where the
//     compressor pumps what the coil boils: mass flow (clearance-volume model)
//     times refrigeration effect equals conductance times temperature
//     difference. Saturation pressures are CoolProp's curves for R404A, R134a
//     and R290. Only the condenser has inertia of its own, 60 s.
//   - Coil, air and goods are lumped heat capacities, explicit Euler.
//   - Vapour comes in with outside air, freezes onto a coil below 0 °C, narrows
//     its air passages by 1/(1+(m/M)^1.7) and melts in defrosts. Nothing
//     prescribes an iced coil: it happens when melting does not keep up.
//   - The thermostat has a differential, a minimum off time of 3 min and a
//     minimum run of 1 min; pressure controls, overload protector and shell
//     thermostat stop the compressor and let it try again.
//   - Current follows from shaft power, so a low voltage raises it.
//
// A fault changes the part that is broken and nothing else: what the sensors
// show then is the model's answer. See FaultNames; the sizes stand in fault.go.
//
// Base parameters were fitted until a healthy week of each of the five fitted
// types shows the temperatures, currents, running shares and starts that the
// domain notes give for it; the tests hold them there, and hold every fault to
// the direction and size of its row in the fault matrix. Other types of the
// catalogue are built from the nearest of the five by size, set-point and
// defrost habit. They are plausible, not fitted.
//
// # Randomness
//
// Everything random is a function of seed and absolute time (see noise). Equal
// configurations give equal readings; a healthy and a faulty unit of one seed
// live through the same weather and the same opened doors; units of one site
// share weather, mains and gateway outages.
//
// # What it cannot show
//
// Oil, refrigerant migration, liquid hammer and real vibration spectra are
// missing; vibration and bearing wear are assumed shapes. Ultra-low freezers
// (cascades) and ice machines are refused. Engines and routes of transport
// units are not modelled. A method that works here works on this model: that
// proves its plumbing and its logic, not its accuracy in the field.
package simulate
