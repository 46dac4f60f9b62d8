package benchtest

import "time"

// SleepUntil sleeps until t. In a synctest bubble this is virtual time.
func SleepUntil(t time.Time) { time.Sleep(time.Until(t)) }
