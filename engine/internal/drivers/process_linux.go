package drivers

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// hasVendors: the loader of OpenCL reads .icd files.
const hasVendors = true

// clockTick is the unit of times in /proc: USER_HZ, which is 100 on all systems that Go supports.
const clockTick = time.Second / 100

// cpuOf returns the CPU time of a process and of its children that have ended.
func cpuOf(pid int) (used time.Duration, ok bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	_, rest, ok := bytes.Cut(stat, []byte(") ")) // the name of the program may hold spaces
	fields := bytes.Fields(rest)
	if !ok || len(fields) < 15 {
		return 0, false
	}
	for _, f := range fields[11:15] { // utime stime cutime cstime
		ticks, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return 0, false
		}
		used += time.Duration(ticks) * clockTick
	}
	return used, true
}
