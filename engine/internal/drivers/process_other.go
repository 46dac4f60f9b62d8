//go:build !linux

package drivers

import "time"

// hasVendors: the system has its own list of drivers.
const hasVendors = false

// cpuOf knows no CPU time of other processes.
func cpuOf(int) (time.Duration, bool) { return 0, false }
