package engine

import (
	"os"
	"testing"
)

func backendOptions(t testing.TB) Options {
	t.Helper()
	backend := os.Getenv("HEDDLE_TEST_BACKEND")
	if backend == "" {
		backend = "host"
	}
	return Options{Backend: backend, Device: os.Getenv("HEDDLE_TEST_DEVICE")}
}

func onHost() bool { return os.Getenv("HEDDLE_TEST_BACKEND") != "opencl" }

func pick(full, small int) int {
	if testing.Short() {
		return small
	}
	return full
}
