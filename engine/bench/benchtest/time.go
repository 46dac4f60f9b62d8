package benchtest

import "time"

// sleepUntil waits in virtual time.
func SleepUntil(t time.Time) { time.Sleep(time.Until(t)) }
