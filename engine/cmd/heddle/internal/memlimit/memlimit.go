// Package memlimit bounds the memory of the process, as the system counts it.
package memlimit

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
)

const (
	// code is the memory of the program's code and constants where the system does not tell it.
	code = 32 << 20
	// growth is the memory of code that has not run yet, and of stacks.
	growth = 8 << 20
	// least is the room without which a build is not worth while.
	least = 4 << 20
)

// Set makes the garbage collector keep the process below limit bytes until restore. A caller
// may have room bytes in use, beside fixed ones that it needs in any case; the rest is for
// garbage. A limit that leaves too little room is an error that names the least limit.
func Set(limit, fixed uint64) (room uint64, restore func(), err error) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	outside := mappedBytes() + growth // bytes outside of the memory of the garbage collector
	taken := outside + fixed + m.HeapAlloc
	// A quarter of the room lets garbage wait for its collection.
	if minimum := taken + least + least/3; limit < minimum {
		return 0, nil, fmt.Errorf("a memory limit of %d bytes is too small: this build needs at least %d MiB", limit, minimum>>20+1)
	}
	before := debug.SetMemoryLimit(int64(limit - outside))
	return (limit - taken) / 4 * 3, func() { debug.SetMemoryLimit(before) }, nil
}

// mappedBytes returns the bytes of files in the memory of the process, such as its code.
func mappedBytes() uint64 {
	status, err := os.ReadFile("/proc/self/status") // only Linux has the file
	if err != nil {
		return code
	}
	for line := range bytes.Lines(status) {
		if kib, ok := bytes.CutPrefix(line, []byte("RssFile:")); ok {
			if n, err := strconv.ParseUint(string(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(kib), []byte("kB")))), 10, 40); err == nil {
				return n << 10
			}
		}
	}
	return code
}
