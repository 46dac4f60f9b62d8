package cl

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"heddle/cl/internal/device/devicetest"
	"heddle/cl/internal/lists"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/plantest/selecttest"
	"heddle/engine/plan/testneeds"
)

// unlike are devices unlike those at hand: words for testdata/layer.c, and what the refusal says, empty if the
// device is to be used.
var unlike = []struct {
	name, words, refused string
}{
	{"small GPU", "gpu units=1 local=32768 group=256 alloc=134217728 memory=1073741824 taken=805306368 bits=32 multiple=8 plain no3 unified=1", ""},
	{"small work-groups", "gpu group=64 local=16384 multiple=64", ""},
	{"tiny work-groups", "gpu group=1 local=16384", "its work-groups hold 1 work-items, the kernels need 64"},
	{"kernels with many registers", "gpu kernel=32", "runs in work-groups of 32 work-items at most there"},
	{"little local memory", "gpu local=16383", "it has 16383 bytes of local memory, the kernels need 16384"},
	{"greatest numbers", "gpu units=-1 group=-1 local=-1 alloc=-1 memory=-1 multiple=-1 mute", ""},
	{"greatest numbers on a CPU", "units=-1 group=-1 local=-1 alloc=-1 memory=-1 multiple=-1", ""},
	{"no units, nothing shared", "gpu units=0 multiple=0 unified=0 mute", ""},
	{"small buffers", "alloc=65536", "its largest buffer has 65536 bytes"},
	{"no buffers", "alloc=0", "its largest buffer has 0 bytes"},
	{"no memory", "memory=0", "its memory has 0 bytes"},
	{"short addresses", "bits=16", "its addresses have 16 bits"},
	{"empty work-groups", "group=0", "its work-groups hold 0 work-items"},
	{"not available", "available=0", "the driver says that it is not available"},
	{"no compiler", "compiler=0", "the driver has no compiler"},
	{"no offsets", "origin", "self-test"},
}

// TestUnlike opens devices unlike those at hand, each in a process of its own, runs the self-tests of all kernels
// and some queries, and compares the answers with pure Go.
func TestUnlike(t *testing.T) {
	if os.Getenv("HEDDLE_TEST_UNLIKE") != "" {
		runUnlike(t)
		return
	}
	testneeds.OneCaller(t)
	testneeds.Device(t)
	if d := devicetest.Find(t, everything); d.Info().Type == "gpu" {
		t.Skip("drivers of GPUs add memory of their own to that of kernels, which the simulated limits do not know")
	}
	layer := newLayer(t)
	for _, d := range unlike {
		t.Run(d.name, func(t *testing.T) {
			tests := "^TestUnlike$/^(queries|tables)$/^(strategies|codes|measures|filtered)$"
			if strings.Contains(d.words, "-1") { // it has the kernels of other devices
				tests = "^TestUnlike$/^queries$"
			}
			said, err := onLayer(t, layer, d.words, tests)
			if refused := strings.Contains(said, "refused: "); err != nil || refused != (d.refused != "") || !strings.Contains(said, d.refused) {
				t.Errorf("%v, expected %q:\n%s", err, d.refused, said)
			}
		})
	}
}

// newLayer compiles testdata/layer.c.
func newLayer(t *testing.T) (library string) {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("the library is written in C, and this machine has no gcc")
	}
	library = filepath.Join(t.TempDir(), "layer.so")
	if said, err := exec.Command("gcc", "-shared", "-fPIC", "-pthread", "-o", library, "testdata/layer.c", "-Wl,--no-as-needed", "-l:libOpenCL.so.1").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return library
}

// onLayer runs tests of this package in a process behind the library.
func onLayer(t *testing.T, library, words, tests string, env ...string) (said string, err error) {
	t.Helper()
	c := exec.CommandContext(devicetest.Limited(t), os.Args[0], "-test.run="+tests, "-test.short")
	c.Env = append(append(os.Environ(), "HEDDLE_TEST_UNLIKE=1", "HEDDLE_OPENCL_LIBRARY="+library, "HEDDLE_TEST_LAYER="+words, "HEDDLE_CACHE=off"), env...)
	out, err := c.CombinedOutput()
	return string(out), err
}

func runUnlike(t *testing.T) {
	open := func(t *testing.T) plan.Backend {
		b, err := Open(t.Context(), devicetest.Find(t, everything), Options{})
		if _, ok := errors.AsType[*plan.DeviceError](err); ok {
			fmt.Println("refused:", err)
			t.SkipNow()
		}
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	t.Run("queries", func(t *testing.T) {
		b := open(t).(*Backend)
		defer b.Close()
		askAll(t, b)
	})
	t.Run("tables", func(t *testing.T) { selecttest.Run(t, open, plantest.Options{Small: true}) })
}

// askAll tests the kernels of all codecs and algorithms, and answers queries of each kind, from lists that stay and from
// lists that come and go.
func askAll(t *testing.T, b *Backend) {
	all, _, err := lists.Sample(codec.IDs()...)
	if err != nil {
		t.Fatal(err)
	}
	s, err := b.Load(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range b.Info().Algorithms {
		batch := plan.MatchBatch{Algorithm: a}
		batch.Add(all, 0, 1)
		if err := s.Match(t.Context(), &batch, &plan.Results{}); err != nil {
			t.Errorf("%s: %v", a, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	l := newLoad(t, 20, 20)
	for kind := range 3 {
		s, err := b.Load(t.Context(), l.src)
		if err != nil {
			t.Fatal(err)
		}
		c, err := b.LoadCached(t.Context(), l.src, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []plan.Store{s, c} {
			if err := errors.Join(l.ask(devicetest.Limited(t), t, s, kind), s.Close()); err != nil {
				t.Errorf("kind %d: %v", kind, err)
			}
		}
	}
}
