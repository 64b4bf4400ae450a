// Package foreign is a second family of equations of refrigerated units and of what
// goes wrong with them. It shares no equation, parameter or random number with package
// simulate and was written without reading that: a rule that holds on both was not
// fitted to the model of either. It serves evaluation alone.
//
// # Model
//
// In every step of at most 6 s:
//
//   - The charge moves. Evaporator and condenser hold liquid; the compressor takes vapour
//     out of one and a capillary tube or an expansion valve lets liquid in. How much of the
//     evaporator is wetted decides conductance and superheat; what is too much leaves as
//     liquid. A capillary tube passes more when the head pressure rises, so that a dirty
//     condenser floods the evaporator, and its charge migrates into the evaporator in the
//     off time. Behind an expansion valve a receiver hides what leaks at first.
//   - The evaporating temperature is where the compressor pumps what boils (Newton's
//     method). Condenser, coil, shell, air, liner and goods are lumped capacities.
//   - The coil is a heat exchanger by effectiveness. Moisture freezes onto it; frost
//     insulates and narrows the gaps, and the fan moves less air through them.
//   - Thermostats are mechanical ones with a bulb in the air or on the coil, or controllers
//     with a minimum off time. Defrosts are by off time, electric heater or hot gas, begun
//     by a clock, by run time, on demand, or by the thermostat in every off time.
//   - Doors are opened in rushes; goods arrive on some mornings.
//   - Sensors have lags, steps, noise, thermowells, and single odd values on every channel.
//
// Formulas name their source. Sizes follow from a design point, as a planner would choose
// it: capacity from the load of the unit's own hot day, everything else from that.
//
// # Randomness
//
// People, weather and sensors each have a stream of their own that depends on seed and
// time alone: a healthy and a faulty unit of one seed live through the same doors.
//
// # What it cannot show
//
// Oil, racks of several compressors, variable speed, pumped liquid and cascades are
// missing; vibration is a shape. Its sizes are from textbooks and data sheets, not fitted
// to recordings.
package foreign
