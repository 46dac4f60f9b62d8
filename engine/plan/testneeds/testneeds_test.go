package testneeds

import (
	"testing"
)

// skipped reports whether need skips a test.
func skipped(t *testing.T, need func(testing.TB)) (is bool) {
	t.Helper()
	t.Run("need", func(t *testing.T) {
		defer func() { is = t.Skipped() }()
		need(t)
	})
	return is
}

func TestNeeds(t *testing.T) {
	device := func(tb testing.TB) { Device(tb) }
	for _, c := range []struct {
		name    string
		need    func(testing.TB)
		backend string
		want    bool
	}{
		{"a device on the host", device, "", true},
		{"a device on the host by name", device, "host", true},
		{"a device on a device", device, "opencl", false},
		{"the host on the host", Host, "host", false},
		{"the host on a device", Host, "opencl", true},
		{"long", Long, "", testing.Short()},
		{"sequential", Sequential, "", Race},
		{"one caller on the host", OneCaller, "host", false},
		{"one caller on a device", OneCaller, "opencl", Race},
	} {
		t.Setenv("HEDDLE_TEST_BACKEND", c.backend)
		if got := skipped(t, c.need); got != c.want {
			t.Errorf("%s: skipped %t, want %t", c.name, got, c.want)
		}
	}
}

func TestWaits(t *testing.T) {
	for _, quick := range []string{"", "1"} {
		t.Setenv("HEDDLE_TEST_QUICK", quick)
		if got, want := skipped(t, Waits), quick != ""; got != want {
			t.Errorf("HEDDLE_TEST_QUICK=%q: skipped %t, want %t", quick, got, want)
		}
	}
}

func TestBackend(t *testing.T) {
	t.Setenv("HEDDLE_TEST_DEVICE", "PoCL")
	for env, want := range map[string][2]string{"": {"host", ""}, "host": {"host", ""}, "opencl": {"opencl", "PoCL"}} {
		t.Setenv("HEDDLE_TEST_BACKEND", env)
		if backend, device := Backend(); backend != want[0] || device != want[1] {
			t.Errorf("%q: %q, %q", env, backend, device)
		}
	}
}
