package device

import (
	"reflect"
	"testing"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"
)

// manyArguments has as many parameters as the largest kernel.
type manyArguments struct {
	a, f, p                    [4]*ocl.MemObject
	ranges                     int
	batch                      *ocl.MemObject
	termsAt, queriesAt, groups int
	lengths                    *ocl.MemObject
	narrow                     bool
	docCount                   int
	bits, found                *ocl.MemObject
	most                       int
	state, keys                *ocl.MemObject
	capacity, k                int
	all                        bool
	never                      *ocl.MemObject `macro:"NEVER"`
}

func many() (k *kernel, args manyArguments) {
	args = manyArguments{ranges: 3052, termsAt: 1 << 20, narrow: true, docCount: 25_000_000}
	for i := range args.a {
		args.a[i], args.f[i], args.p[i] = new(ocl.MemObject), new(ocl.MemObject), new(ocl.MemObject)
	}
	k = &kernel{parameters: Parameters(reflect.TypeFor[manyArguments](), func(string) bool { return false })}
	for _, p := range k.parameters { // as if all were set
		v, at := value{set: true}, unsafe.Add(unsafe.Pointer(&args), p.at)
		switch {
		case p.Type == "buffer":
			v.buffer = *(**ocl.MemObject)(at)
		case p.bits && *(*bool)(at):
			v.n = 1
		case !p.bits:
			v.n = *(*int)(at)
		}
		k.values = append(k.values, v)
	}
	return k, args
}

// TestSameArguments sets no argument that has its value already, and allocates nothing for the
// comparison. A changed one reaches the driver, which here has no kernel.
func TestSameArguments(t *testing.T) {
	k, args := many()
	if n := len(k.parameters); n != 28 || k.parameters[4].Name != "f0" || k.parameters[14].Name != "terms_at" {
		t.Errorf("%d parameters: %+v", n, k.parameters)
	}
	if n := testing.AllocsPerRun(100, func() {
		if err := k.set(unsafe.Pointer(&args)); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	k.Kernel = new(ocl.Kernel)
	for i, change := range []func(){func() { args.capacity++ }, func() { args.narrow = false }, func() { args.f[2] = new(ocl.MemObject) }} {
		if change(); k.set(unsafe.Pointer(&args)) == nil {
			t.Errorf("change %d is not seen", i)
		}
		k, args = many()
		k.Kernel = new(ocl.Kernel)
	}
}

// TestSameVector sets an argument of four words each time.
func TestSameVector(t *testing.T) {
	type arguments struct{ what [4]uint32 }
	k := &kernel{Kernel: new(ocl.Kernel), parameters: Parameters(reflect.TypeFor[arguments](), nil), values: []value{{set: true}}}
	if err := k.set(unsafe.Pointer(&arguments{})); err == nil {
		t.Error("four words did not reach the driver")
	}
}

func BenchmarkSameArguments(b *testing.B) {
	k, args := many()
	for b.Loop() {
		if err := k.set(unsafe.Pointer(&args)); err != nil {
			b.Fatal(err)
		}
	}
}
