package drivers

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// orphaned ends a child whose parent has gone. Its driver may never return.
func orphaned() { os.Exit(1) }

// Quote quotes the beginning of a text that is not from heddle, such as the content of an .icd file.
func Quote(text string) string {
	const most = 100
	if len(text) > most {
		return strconv.QuoteToASCII(text[:most]) + " …"
	}
	return strconv.QuoteToASCII(text)
}

// signalLine is the first line of Go's report on a signal that it did not expect, such as
// "SIGSEGV: segmentation violation".
var signalLine = regexp.MustCompile(`(?m)^(SIG[A-Z]+): `)

// signalIn returns the signal that the runtime of Go reports in the output of a child, or "".
func signalIn(said string) string {
	if m := signalLine.FindStringSubmatch(said); m != nil {
		return m[1]
	}
	return ""
}

// memoryFaults are texts of programs that found no memory: of Go, of the dynamic linker and of C++.
var memoryFaults = []string{"cannot allocate memory", "out of memory", "failed to map segment from shared object", "std::bad_alloc", "failed to create new OS thread", "pthread_create failed"}

// memoryNeed tells that a child found too little memory, and how much it may use; "" if it did not.
func memoryNeed(said string) string {
	for _, text := range memoryFaults {
		if strings.Contains(strings.ToLower(said), text) {
			return memoryText()
		}
	}
	return ""
}

// leastAddressSpace is the address space that OpenCL needs: the runtime of Go, a driver with its
// compiler and its threads.
const leastAddressSpace = 4 << 30

func memoryText() string {
	if limit, ok := addressSpace(); ok {
		return fmt.Sprintf("too little memory: the limit of the address space is %d MiB (ulimit -v), drivers need about %d MiB", limit>>20, leastAddressSpace>>20)
	}
	return "too little memory for the driver: give the process or its container more, or use --backend host"
}
