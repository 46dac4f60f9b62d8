package drivers

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Prepare prepares the process for drivers, and returns its environment. Only a program calls it,
// before drivers load.
func Prepare() (environ []string) {
	mapLargeBlocks()
	return boundPoCL(os.Environ(), os.Setenv)
}

// poclThreads are the variables that bound the threads of PoCL, up to version 4 and from 5 on.
var poclThreads = []string{"POCL_MAX_PTHREAD_COUNT", "POCL_CPU_MAX_CU_COUNT"}

// boundPoCL bounds the threads of PoCL by the processors that the process may use. PoCL counts all
// cores of the machine, also in a container with a CPU limit, which Go knows. It returns the new
// environment. A variable of the user stays.
func boundPoCL(environ []string, setenv func(name, value string) error) []string {
	most := runtime.GOMAXPROCS(0)
	if most >= runtime.NumCPU() {
		return environ
	}
	for _, name := range poclThreads {
		if slices.ContainsFunc(environ, func(kv string) bool { return strings.HasPrefix(kv, name+"=") }) {
			return environ
		}
	}
	for _, name := range poclThreads {
		if setenv(name, strconv.Itoa(most)) == nil {
			environ = append(environ, name+"="+strconv.Itoa(most))
		}
	}
	return environ
}
