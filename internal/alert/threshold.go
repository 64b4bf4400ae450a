package alert

// Limits that a rule has in some places instead of that of its row.
var (
	zoneHumid      = Limit{95, 0, 2 * hour, 0, 2, 15 * minute}    // %RH over water in a cooler's zone
	freezerHumid   = Limit{92, 0, 2 * hour, 0, 2, 15 * minute}    // the same in a freezer's
	freezerSuction = Limit{-2, 0, 10 * minute, 0, 2, 10 * minute} // K above a freezer's zone
)

const (
	vibrationWarn    = 2.0         // times the unit's baseline
	vibrationCrit    = 4.0         // likewise
	failedStartsDay  = 3.0         // in 24 h: warning
	failedStartsHour = 3.0         // in this clock hour and the last: critical
	runTimeZoneK     = 2.0         // K above setpoint that makes six hours of running critical
	recoveryTimes    = 2.0         // times the learnt recovery: warning
	staleAfter       = 15 * minute // readings or zone temperatures missing this long while online
	faultAfter       = 5 * minute  // a sensor broken this long
)
