package alert

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
)

// known lets the engine learn a freezer on 230 V that draws 15 A, nine minutes
// of every seventeen, for three days.
const known = `
	0m..72h cycle=9/17`

// ruleCases has a row or two for every rule beside the product temperature.
// The unit is the one of known; its readings come once a minute.
var ruleCases = []struct{ name, script, want string }{
	{"voltage: 10 % too low for a minute warns, 15 % is critical", known + `
		72h..72h10m v=205
		72h10m..72h20m v=194
		72h20m..73h v=230`, `
		72h1m opened low_voltage warning since 72h value 205 peak 205 limit 207
		72h11m escalated low_voltage critical since 72h value 194 peak 194 limit 195.5
		72h25m resolved low_voltage critical since 72h value 230 peak 194 limit 195.5`},
	{"voltage: one low sample is a starting motor", known + `
		72h..72h1m v=200
		72h1m..73h v=230`, ``},
	{"voltage: too high", known + `
		72h..72h10m v=254
		72h10m..73h v=230`, `
		72h1m opened high_voltage warning since 72h value 254 peak 254 limit 253
		72h15m resolved high_voltage warning since 72h value 230 peak 254 limit 253`},
	{"power loss is not a low voltage, and critical with the second sample", known + `
		72h..72h10m off v=0 i=0
		72h10m..72h20m v=230 i=0.2`, `
		72h1m opened power_loss critical since 72h value 0 peak 0 limit 115
		72h11m resolved power_loss critical since 72h value 230 peak 0 limit 115`},
	{"a running motor without voltage is a broken sensor", known + `
		72h..72h20m on v=0
		72h20m..72h40m v=230`, `
		72h5m opened sensor_fault warning since 72h voltage
		72h25m resolved sensor_fault warning since 72h voltage`},
	{"discharge: above 107 °C for five minutes of warm running", known + `
		72h..73h on d=110
		73h..74h d=90`, `
		72h8m opened high_discharge_temperature warning since 72h3m value 110 peak 110 limit 107
		73h5m resolved high_discharge_temperature warning since 72h3m value 90 peak 110 limit 107`},
	{"discharge: the clock stands still while the compressor does", known + `
		72h..72h8m on d=110
		72h8m..73h off d=60
		73h..73h8m on d=110
		73h8m..74h off d=60`, `
		73h5m opened high_discharge_temperature warning since 73h value 110 peak 110 limit 107`},
	{"discharge: above 121 °C for a minute is critical", known + `
		72h..72h10m on d=125
		72h10m..73h d=90`, `
		72h4m opened high_discharge_temperature critical since 72h3m value 125 peak 125 limit 121
		72h15m resolved high_discharge_temperature critical since 72h3m value 90 peak 125 limit 121`},
	{"discharge: 8 K above the unit's own in two windows", known + `
		72h..96h cycle=9/17 d=93`, `
		88h30m opened high_discharge_temperature warning since 88h25m value 7.9966 peak 7.9966 limit 6`},
	{"discharge: 20 K above it is critical", known + `
		72h..96h cycle=9/17 d=105`, `
		82h18m opened high_discharge_temperature warning since 82h13m value 13.3331 peak 13.3331 limit 6
		88h13m escalated high_discharge_temperature critical since 82h13m value 19.9966 peak 19.9966 limit 15`},
	{"suction: above 18 °C for a quarter of an hour of running", known + `
		72h..73h on s=20
		73h..74h s=-3`, `
		72h18m opened high_suction_temperature warning since 72h3m value 20 peak 20 limit 18
		73h10m resolved high_suction_temperature warning since 72h3m value -3 peak 20 limit 18`},
	{"suction: colder than the zone is liquid", known + `
		72h..73h on s=-23 still
		73h..74h s=-3`, `
		72h18m opened low_suction_temperature warning since 72h8m value -3 peak -3 limit -2
		73h10m resolved low_suction_temperature warning since 72h8m value 17 peak -3 limit -2`},
	{"discharge: barely above ambient is liquid too", known + `
		72h..73h on d=45
		73h..74h d=85`, `
		72h18m opened low_discharge_temperature warning since 72h8m value 21 peak 21 limit 25
		73h10m resolved low_discharge_temperature warning since 72h8m value 61 peak 21 limit 25`},
	{"discharge: barely above ambient behind a suction line that is warmer than usual is no liquid", known + `
		72h..73h on d=45 s=5
		73h..74h d=85 s=-3`, ``},
	{"a discharge line no warmer than the suction line is a lost sensor", known + `
		72h..73h on d=10
		73h..74h d=85`, `
		72h13m opened sensor_fault warning since 72h8m compressor_discharge_temp
		73h5m resolved sensor_fault warning since 72h8m compressor_discharge_temp`},
	{"amps: a quarter above rated", known + `
		72h..73h on i=25
		73h..74h i=15`, `
		72h5m opened high_amp_draw critical since 72h3m value 25 peak 25 limit 23.4375
		73h6m resolved high_amp_draw critical since 72h3m value 15 peak 25 limit 23.4375`},
	{"amps: two readings that stray, two minutes apart, are no overload", `
		0m..72h cycle=9/17 every=2m
		72h..72h10m on every=2m
		72h10m..72h14m i=90 every=2m
		72h14m..73h i=15 every=2m`, ``},
	{"amps: 15 % above the unit's own in two windows", known + `
		72h..96h cycle=9/17 i=17.3`, `
		88h48m opened high_amp_draw warning since 88h38m value 15.5272 peak 15.5272 limit 12`},
	{"amps: a fifth of the usual while it vibrates", known + `
		72h..73h off i=3 x=0.85
		73h..74h on`, `
		72h10m opened low_amp_draw warning since 72h value 3 peak 3 limit 3.75
		73h5m resolved low_amp_draw warning since 72h value 15 peak 3 limit 3.75`},
	{"amps: a fifth of the usual while a stuck meter shows vibration", known + `
		72h..73h off i=3 x=0.9
		73h..74h on`, ``},
	{"amps: next to nothing while it vibrates is the meter", known + `
		72h..73h off i=2 x=0.85
		73h..74h on`, `
		72h13m opened sensor_fault warning since 72h8m amp_draw
		73h5m resolved sensor_fault warning since 72h8m amp_draw`},
	{"vibration: twice its own and above 1.8 for a quarter of an hour", known + `
		72h..73h on x=2.5
		73h..74h x=0.9`, `
		72h18m opened high_vibration warning since 72h3m value 2.5 peak 2.5 limit 1.8
		73h16m resolved high_vibration warning since 72h3m value 0.9 peak 2.5 limit 1.8`},
	{"vibration: critical", known + `
		72h..73h on x=5
		73h..75h x=0.9`, `
		72h18m opened high_vibration critical since 72h3m value 5 peak 5 limit 4.5
		73h16m resolved high_vibration critical since 72h3m value 0.9 peak 5 limit 4.5`},
	{"starts: more than twelve an hour are no more than a warning while the goods are kept", known + `
		72h..74h cycle=2/4
		74h..80h cycle=9/17`, `
		72h29m opened short_cycling warning since 72h14m value 9 peak 9 limit 8
		76h40m resolved short_cycling warning since 72h14m value 9 peak 2 limit 2.5`},
	{"starts: and are critical while they are not", known + `
		72h..72h2m z=-18
		72h2m..72h4m z=-16
		72h4m..72h6m z=-14
		72h6m..74h cycle=2/4
		74h..74h2m z=-16
		74h2m..74h4m z=-18
		74h4m..80h cycle=9/17 z=-20`, `
		72h33m opened short_cycling warning since 72h18m value 9 peak 9 limit 8
		73h4m opened high_temperature warning since 72h4m value -13.7 peak -13.4 limit -15
		73h19m escalated short_cycling critical since 72h18m value 15 peak 15 limit 12
		73h32m opened not_cooling warning since 72h1m value -13.8 peak -13.8 limit -19.0739
		74h1m updated not_cooling warning since 72h1m value -15.9 peak -13.8 limit -19.0739
		74h5m resolved high_temperature warning since 72h4m value -20 peak -13.4 limit -15
		74h24m resolved not_cooling warning since 72h1m value -19.8 peak -13.8 limit -19.0739
		76h5m deescalated short_cycling warning since 72h18m value 9 peak 2 limit 2.5
		76h57m resolved short_cycling warning since 72h18m value 9 peak 2 limit 2.5`},
	{"runs: shorter than three minutes", known + `
		72h..74h cycle=2/10
		74h..80h cycle=9/17`, `
		72h47m opened short_cycling warning since 72h32m value 2 peak 2 limit 2.5
		76h40m resolved short_cycling warning since 72h32m value 9 peak 2 limit 2.5`},
	{"starts: until it is known whether the load varies, what looks like one may be none", `
		0m..4h cycle=2/4`, `
		1h7m opened short_cycling warning since 52m value 14 peak 15 limit 12`},
	{"a slow reporter is not judged by its starts", `
		0m..72h cycle=2/4 every=2m`, ``},
	{"unless it counts them itself", `
		0m..24h starts=0 every=10m
		24h..24h10m starts=5 every=10m
		24h10m..24h20m starts=12 every=10m
		24h20m..24h30m starts=19 every=10m
		24h30m..26h every=10m`, `
		24h40m opened short_cycling warning since 24h20m value 19 peak 19 limit 12`},
	{"three failed starts in a day warn", known + `
		72h..72h5m off i=0.2
		72h5m..72h6m i=95
		72h6m..77h i=0.2
		77h..77h1m i=95
		77h1m..83h i=0.2
		83h..83h1m i=95
		83h1m..83h30m i=0.2`, `
		83h1m opened compressor_start_failure warning since 83h1m value 3 peak 3 limit 3`},
	{"three within the hour are critical", known + `
		72h..72h2m off i=0.2
		72h2m..72h3m i=95
		72h3m..72h5m i=0.2
		72h5m..72h6m i=95
		72h6m..72h10m i=0.2
		72h10m..72h11m i=95
		72h11m..72h30m i=0.2`, `
		72h11m opened compressor_start_failure critical since 72h11m value 3 peak 3 limit 3`},
	{"readings that stray amid a run are no failed starts", known + `
		72h..72h1m off i=95
		72h1m..77h i=0.2
		77h..77h1m i=95
		77h1m..83h i=0.2
		83h..83h1m i=95
		83h1m..83h30m i=0.2`, ``},
	{"a start that is caught at its peak has not failed", known + `
		72h..72h1m off i=70
		72h1m..72h9m on i=15
		72h9m..72h20m off
		72h20m..72h21m i=70
		72h21m..72h29m on
		72h29m..72h40m off
		72h40m..72h41m i=70
		72h41m..72h50m on`, ``},
	{"running far more than usual", known + `
		72h..96h on`, `
		82h opened excessive_run_time warning since 82h value 31.5929 peak 31.5929 limit 20`},
	{"running all day, and always so", `
		0m..10m off
		10m..96h cycle=24/25`, `
		16h opened excessive_run_time warning since 16h value 95.6667 peak 95.6667 limit 85`},
	{"running all the time and not as cold as usual, the goods within their limits", known + `
		72h..96h on z=-17`, `
		72h56m opened door_open_suspected warning since 72h56m value 30 peak 30 limit 15
		73h32m opened not_cooling warning since 72h1m value -17 peak -17 limit -19.6
		82h opened excessive_run_time warning since 82h value 31.5929 peak 31.5929 limit 20`},
	{"running all the time and not cold enough", known + `
		72h..83h on z=-14`, `
		72h56m opened door_open_suspected warning since 72h56m value 30 peak 30 limit 15
		73h opened high_temperature warning since 72h value -14 peak -14 limit -15
		73h32m opened not_cooling warning since 72h1m value -14 peak -14 limit -19.6
		82h opened excessive_run_time critical since 82h value 100 peak 100 limit 97`},
	{"a door that reports itself", known + `
		72h..72h10m door=1
		72h10m..74h door=0
		74h..75h door=1
		75h..77h door=0`, `
		74h16m opened door_open_suspected warning since 74h16m value 16 peak 16 limit 15
		75h30m resolved door_open_suspected warning since 74h16m value 0 peak 59 limit 15`},
	{"a door that is reported only while it is open", known + `
		72h..73h door=1 z=-12
		73h..78h door= cycle=9/17 z=-20`, `
		72h16m opened door_open_suspected warning since 72h16m value 16 peak 16 limit 15
		73h opened high_temperature warning since 72h value -11.7 peak -11.4 limit -15
		73h5m resolved high_temperature warning since 72h value -19.9 peak -11.4 limit -15
		73h59m resolved door_open_suspected warning since 72h16m value 0 peak 88 limit 15`},
	{"ambient: too hot, too cold", known + `
		72h..73h a=37
		73h..74h a=45
		74h..75h a=24
		75h..76h a=5
		76h..77h a=24`, `
		72h30m opened high_ambient_temperature warning since 72h value 37 peak 37 limit 35
		74h15m resolved high_ambient_temperature warning since 72h value 24 peak 45 limit 35
		75h30m opened low_ambient_temperature warning since 75h value 5 peak 5 limit 10
		76h15m resolved low_ambient_temperature warning since 75h value 24 peak 5 limit 10`},
	{"ambient: too hot is critical where nothing shows that the goods are kept", known + `
		72h..73h a=37 z!
		73h..74h a=45
		74h..75h a=24`, `
		72h5m opened sensor_fault warning since 72h product_zone_temp
		72h30m opened high_ambient_temperature warning since 72h value 37 peak 37 limit 35
		73h30m escalated high_ambient_temperature critical since 72h value 45 peak 45 limit 43
		74h15m resolved high_ambient_temperature critical since 72h value 24 peak 45 limit 43`},
	{"ambient: too hot is critical once the goods get warm", known + `
		72h..73h a=45
		73h..75h on a=45 z=-14
		75h..76h a=24 z=-20`, `
		72h30m opened high_ambient_temperature warning since 72h value 45 peak 45 limit 35
		73h58m opened door_open_suspected warning since 73h58m value 30 peak 30 limit 15
		74h opened high_temperature warning since 73h value -14 peak -14 limit -15
		74h30m escalated high_ambient_temperature critical since 72h value 45 peak 45 limit 43
		74h32m opened not_cooling warning since 72h59m value -14 peak -14 limit -19.577
		75h1m updated not_cooling warning since 72h59m value -20 peak -14 limit -19.577
		75h5m resolved high_temperature warning since 73h value -20 peak -14 limit -15
		75h15m resolved high_ambient_temperature critical since 72h value 24 peak 45 limit 35`},
	{"humidity at the condenser", known + `
		72h..75h h=80
		75h..78h h=95
		78h..79h h=50`, `
		74h opened high_humidity warning since 72h value 80 peak 80 limit 75
		77h escalated high_humidity critical since 72h value 95 peak 95 limit 90
		78h15m resolved high_humidity critical since 72h value 50 peak 95 limit 90`},
	{"air that a new place may be used to: cold and damp are warnings", `
		0m..3h cycle=9/17 a=0 h=96
		3h..4h a=24 h=50`, `
		30m opened low_ambient_temperature warning since 0s value 0 peak 0 limit 2
		2h opened high_humidity warning since 0s value 96 peak 96 limit 90
		3h15m resolved low_ambient_temperature warning since 0s value 24 peak 0 limit 2
		3h15m resolved high_humidity warning since 0s value 50 peak 96 limit 90`},
	{"outdoors in winter: its usual air is no news, a cold snap is", `
		0m..72h cycle=9/17 a=1 h=85
		72h..75h a=-3 h=94
		75h..78h a=-6 h=94
		78h..79h a=1 h=85`, `
		30m opened low_ambient_temperature warning since 0s value 1 peak 1 limit 2
		48h16m resolved low_ambient_temperature warning since 0s value 1 peak 1 limit -4
		75h30m opened low_ambient_temperature warning since 75h value -6 peak -6 limit -4.2068
		78h15m resolved low_ambient_temperature warning since 75h value 1 peak -6 limit -4.4217`},
	{"a sensor that reports a fault is no temperature", known + `
		72h..74h z!
		74h..75h z=-20`, `
		72h5m opened sensor_fault warning since 72h product_zone_temp
		74h5m resolved sensor_fault warning since 72h product_zone_temp`},
	{"a value beyond all reason is a fault too", known + `
		72h..73h a=75
		73h..74h a=24`, `
		72h5m opened sensor_fault warning since 72h ambient_temp
		73h5m resolved sensor_fault warning since 72h ambient_temp`},
	{"one bad sample is none", known + `
		72h..72h1m z!
		72h1m..73h z=-20`, ``},
	{"a zone that shows one number while the compressor cycles is stuck", `
		0m..72h cycle=9/17
		72h..72h9m on z=-18 still
		72h9m..72h18m off still
		72h18m..72h27m on still
		72h27m..72h36m off still
		72h36m..72h45m on still
		72h45m..73h30m off still
		73h30m..74h cycle=9/17 z=-20`, `
		73h5m opened sensor_fault warning since 73h product_zone_temp
		73h35m resolved sensor_fault warning since 73h product_zone_temp`},
	{"a coarse buffered probe that often stands still is not stuck", `
		0m..50m on z=-18 still
		50m..100m cycle=9/17 z=-18.5
		100m..102m on z=-18 still
		102m..111m off still
		111m..120m on still
		120m..129m off still
		129m..138m on still
		138m..147m off still
		147m..200m on still`, ``},
	{"a zone that stands still though the compressor never stops is told at once when its time is over", known + `
		72h..74h30m on still
		74h30m..75h cycle=9/17`, `
		74h1m opened sensor_fault warning since 72h product_zone_still
		74h35m resolved sensor_fault warning since 72h product_zone_still`},
	{"a zone that is no longer sent is stale", known + `
		72h..74h z=
		74h..75h z=-20`, `
		72h14m opened sensor_stale warning since 71h59m value 900 peak 900 limit 900 product_zone_age
		74h resolved sensor_stale warning since 71h59m value 7260 peak 7260 limit 900 product_zone_age`},
	{"so are readings that stop while heartbeats go on", known + `
		74h tick
		74h1m..75h cycle=9/17`, `
		72h14m opened sensor_stale warning since 71h59m value 900 peak 900 limit 900
		74h1m resolved sensor_stale warning since 71h59m value 7320 peak 7320 limit 900`},
	{"measurements that used to come and stop while others go on, each in an alert of its own", known + `
		72h..74h30m cycle=9/17 h= v=
		74h30m..75h v=230
		75h..77h h=45`, `
		74h opened sensor_stale warning since 72h humidity
		74h opened sensor_stale warning since 72h voltage
		74h30m resolved sensor_stale warning since 72h voltage
		75h resolved sensor_stale warning since 72h humidity`},
	{"of sensors that break together, each has an alert of its own", known + `
		72h..73h a! z!
		73h..74h a=24
		74h..75h z=-20`, `
		72h5m opened sensor_fault warning since 72h product_zone_temp
		72h5m opened sensor_fault warning since 72h ambient_temp
		73h5m resolved sensor_fault warning since 72h ambient_temp
		74h5m resolved sensor_fault warning since 72h product_zone_temp`},
	{"a sensor that breaks while the fault of another is open is told, and so is a person who resolved that one", known + `
		72h..80h a!
		80h..81h h!
		81h0m resolve sensor_fault:humidity
		81h0m..82h a!`, `
		72h5m opened sensor_fault warning since 72h ambient_temp
		80h5m opened sensor_fault warning since 80h humidity
		81h30m opened sensor_fault warning since 80h humidity`},
	{"a zone that stops after them has another", known + `
		72h..76h cycle=9/17 h=
		76h..77h z=
		77h..78h z=-20`, `
		74h opened sensor_stale warning since 72h humidity
		76h14m opened sensor_stale warning since 75h59m value 900 peak 900 limit 900 product_zone_age
		77h resolved sensor_stale warning since 75h59m value 3660 peak 3660 limit 900 product_zone_age`},
	{"one that was never sent for long is not missed", `
		0m..30h cycle=9/17
		30h..60h h=`, ``},
	{"nor for ever one that was taken out a week ago", known + `
		72h..250h cycle=9/17 h=`, `
		74h opened sensor_stale warning since 72h humidity
		241h resolved sensor_stale warning since 72h humidity`},
	{"a declared defrost makes the warning wait", `
		0m..60m z=-20 defrost=0
		60m..90m z=-13 defrost=1
		90m..155m defrost=0
		155m..180m z=-20`, ``},
	{"but not for ever", `
		0m..60m z=-20 defrost=0
		60m..90m z=-13 defrost=1
		90m..200m defrost=0
		200m..220m z=-20`, `
		2h40m opened high_temperature warning since 1h value -13 peak -13 limit -15
		3h25m resolved high_temperature warning since 1h value -20 peak -13 limit -15`},
	{"and the critical alert does not", `
		0m..60m z=-20 defrost=0
		60m..90m z=-11.5 defrost=1
		90m..130m defrost=0
		130m..180m z=-19`, `
		2h opened high_temperature critical since 1h value -11.5 peak -11.5 limit -12
		2h15m resolved high_temperature critical since 1h value -19 peak -11.5 limit -12`},
	{"a limit that is passed for a third of a week does not fit, and is told once", `
		0h..17h z=-28
		17h..24h z=-34
		24h..41h z=-28
		41h..48h z=-34
		48h..65h z=-28
		65h..72h z=-34
		72h..89h z=-28
		89h..96h z=-34
		96h..113h z=-28
		113h..120h z=-34
		120h..137h z=-28
		137h..144h z=-34
		144h..170h z=-28`, `
		18h opened low_temperature warning since 17h value -34 peak -34 limit -30
		24h5m resolved low_temperature warning since 17h value -28 peak -34 limit -30
		42h opened low_temperature warning since 41h value -34 peak -34 limit -30
		48h5m resolved low_temperature warning since 41h value -28 peak -34 limit -30
		66h opened low_temperature warning since 65h value -34 peak -34 limit -30
		72h updated low_temperature warning since 65h value -28 peak -34 limit -30
		168h resolved low_temperature warning since 65h value -28 peak -34 limit -30 occurrences 4`},
	{"the warmth of a defrost is no end of the cold, by the clock neither", `
		0h..80h z=-29
		80h..82h z=-31.5
		82h..82h20m z=-26 defrost=1
		82h20m..84h z=-31.5 defrost=0
		84h..90h z=-28`, `
		81h opened low_temperature warning since 80h value -31.5 peak -31.5 limit -30
		84h5m resolved low_temperature warning since 80h value -28 peak -31.5 limit -30`},
	{"a lower limit that is passed within the unit's own band is one alert until it has kept within it for a day", `
		0h..80h z=-29.5
		80h..84h z=-30.3
		84h..92h z=-29
		92h..95h z=-30.4
		95h..130h z=-29`, `
		81h opened low_temperature warning since 80h value -30.3 peak -30.3 limit -30
		119h resolved low_temperature warning since 80h value -29 peak -30.4 limit -30 occurrences 2`},
	{"one that is passed far outside of it is not", `
		0h..80h z=-26
		80h..84h z=-32
		84h..92h z=-26
		92h..95h z=-32
		95h..130h z=-26`, `
		81h opened low_temperature warning since 80h value -32 peak -32 limit -30
		84h5m resolved low_temperature warning since 80h value -26 peak -32 limit -30
		93h opened low_temperature warning since 92h value -32 peak -32 limit -30
		95h5m resolved low_temperature warning since 92h value -26 peak -32 limit -30`},
}

// TestProbeMoved: a zone that jumps as no room does is told as a probe that was moved, with
// by how much; its limits are judged all the same.
func TestProbeMoved(t *testing.T) {
	c := configOf("walkin_freezer")
	c.Rules = AllRules
	u := newDevice(t, c)
	at := epoch
	send := func(until rimewatch.Time, v float64) {
		for ; at < epoch+until; at += 15 * minute {
			r := rimewatch.Reading{At: at, ReceivedAt: at}
			r.Set(rimewatch.ProductZoneTemp, v+float64(((at-epoch)/(15*minute)+4)%8/7)/10) // now and then a step of the sensor
			u.advance(at)
			u.observe(r)
		}
	}
	send(96*hour, -22)
	send(98*hour, -8)
	send(101*hour, -22)
	got := summary(u.log)
	if len(got) == 0 || got[0] != "96h30m opened sensor_fault warning since 96h15m value 14 peak 14 limit 0" || u.log[0].Metric != rimewatch.ZoneJump || u.log[0].Unit != "K" {
		t.Errorf("%q", got)
	}
	has := func(typ rimewatch.AlertType, kind rimewatch.TransitionKind) bool {
		return slices.ContainsFunc(u.log, func(tr Transition) bool { return tr.Type == typ && tr.Kind == kind })
	}
	if !has(rimewatch.HighTemperature, rimewatch.TransitionOpened) || !has(rimewatch.SensorFault, rimewatch.TransitionResolved) {
		t.Errorf("its limit is not judged, or it does not end: %q", got)
	}
	for i := range u.log {
		if u.log[i].Superseded != "" {
			t.Errorf("%s of %s: %s", u.log[i].Kind, u.log[i].Type, u.log[i].Superseded)
		}
	}
}

// TestCurrentOfTheRun: the value of an alert about a current is that of the run that was judged, while the
// compressor stands and at a start, too.
func TestCurrentOfTheRun(t *testing.T) {
	c := configOf("walkin_freezer")
	c.Rules = AllRules
	u := newDevice(t, c)
	u.run(known + `
		72h..73h on i=25`)
	for _, amps := range []float64{0.1, 0.1, 90} {
		r := rimewatch.Reading{At: u.now + minute, ReceivedAt: u.now + minute}
		r.Set(rimewatch.AmpDraw, amps)
		u.advance(r.At)
		u.observe(r)
		found := false
		for now := range u.s.Active {
			if found = found || now.Type == rimewatch.HighAmpDraw; now.Type == rimewatch.HighAmpDraw && now.Value != 25 {
				t.Errorf("%v A after a reading of %v A", now.Value, amps)
			}
		}
		if !found {
			t.Errorf("no alert after a reading of %v A", amps)
		}
	}
}

// TestOtherLimits: a limit that fits the unit better ends what stood for want of one.
func TestOtherLimits(t *testing.T) {
	c := configOf("walkin_freezer")
	c.Rules = AllRules
	u := newDevice(t, c)
	u.run(`
		0h..72h z=-29
		72h..100h z=-33`)
	if !stands(&u.s.State, ruleLow) {
		t.Fatal("the alert does not stand")
	}
	told := u.log[len(u.log)-1]
	if !told.HasUsual || told.Usual > -30 || told.Kind != rimewatch.TransitionUpdated {
		t.Errorf("%s, usual %v %v", told.Kind, told.Usual, told.HasUsual)
	}
	other := *c
	limit := -36.0
	other.Limits.TempMin = &limit
	u.c = &other
	u.run(`100h..101h z=-33`)
	if last := u.log[len(u.log)-1]; last.Kind != rimewatch.TransitionResolved || stands(&u.s.State, ruleLow) {
		t.Errorf("after another limit: %v", summary(u.log))
	}
}

func TestRules(t *testing.T) {
	for _, tc := range ruleCases {
		t.Run(tc.name, func(t *testing.T) {
			c := configOf("walkin_freezer")
			c.Rules = AllRules
			u := newDevice(t, c)
			u.reload = true
			u.run(tc.script)
			if diff := cmp.Diff(lines(tc.want), summary(u.log)); diff != "" {
				t.Error("transitions (-want +got):\n" + diff)
			}
		})
	}
}
