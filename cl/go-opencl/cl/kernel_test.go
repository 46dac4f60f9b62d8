package cl

import (
	"errors"
	"math"
	"slices"
	"testing"
	"unsafe"
)

const argsSource = `
kernel void args(global uint *out, uchar a, char b, uint c, int d, ulong e, long f, float g,
                 constant uint *table, local uint *one, local uint *two, uint last) {
	uint l = get_local_id(0);
	one[l] = table[l];
	two[get_local_size(0) - 1 - l] = last + l;
	barrier(CLK_LOCAL_MEM_FENCE);
	if (get_global_id(0) == 0) {
		out[0] = a; out[1] = as_uint((int)b); out[2] = c; out[3] = as_uint(d);
		out[4] = (uint)e; out[5] = (uint)(e >> 32);
		out[6] = (uint)as_ulong(f); out[7] = (uint)(as_ulong(f) >> 32);
		out[8] = as_uint(g); out[9] = one[3]; out[10] = two[0];
	}
}`

func TestArguments(t *testing.T) {
	r := newRig(t, 0)
	k := r.kernel(argsSource, "args")
	if n, err := k.NumArgs(); n != 12 || err != nil {
		t.Fatalf("%d arguments, %v", n, err)
	}
	out, table := r.buffer(44), r.buffer(16)
	r.write(table, counting(16, 0))
	r.must(k.SetArgs(out, uint8(250), int8(-3), uint32(1<<31+5), int32(-7), uint64(1<<63+9), int64(-11), float32(1.5),
		table, LocalBuffer(16), LocalBuffer(16), uint32(1000)))
	r.done(r.queue.EnqueueNDRangeKernel(k, nil, []int{4}, []int{4}, nil))
	minus := func(v int32) uint32 { return uint32(-v) }
	want := []uint32{250, minus(3), 1<<31 + 5, minus(7), 9, 1 << 31, minus(11), math.MaxUint32, math.Float32bits(1.5), 0x0F0E0D0C, 1003}
	if got := words(r.read(out, 44)); !slices.Equal(got, want) {
		t.Errorf("got  %x\nwant %x", got, want)
	}

	typed, ok := errors.AsType[ErrUnsupportedArgumentType](k.SetArgs(out, 1))
	if !ok || typed.Index != 1 || typed.Value != 1 || typed.Error() != "cl: unsupported argument type for index 1: int" {
		t.Errorf("an int is %v", typed)
	}
	value := uint32(1)
	for name, c := range map[string]struct{ got, want error }{
		"index too large": {k.SetArgUint32(12, 1), ErrInvalidArgIndex},
		"index negative":  {k.SetArgUint32(-1, 1), ErrInvalidArgIndex},
		"size wrong":      {k.SetArgUint64(3, 1), ErrInvalidArgSize},
		"size negative":   {k.SetArgUnsafe(3, -4, unsafe.Pointer(&value)), ErrInvalidArgSize},
		"local of size 0": {k.SetArgLocal(9, 0), ErrInvalidArgSize},
		"nil buffer":      {k.SetArgBuffer(0, nil), ErrInvalidMemObject},
		"nil in a list":   {k.SetArgs((*MemObject)(nil)), ErrInvalidMemObject},
		"copied":          {k.SetArgUnsafe(3, 4, unsafe.Pointer(&value)), nil},
	} {
		if !errors.Is(c.got, c.want) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}

	if n, err := k.WorkGroupSize(r.device); n < 1 || n > r.device.MaxWorkGroupSize() || err != nil {
		t.Errorf("work-group size %d, %v", n, err)
	}
	if n, err := k.PreferredWorkGroupSizeMultiple(r.device); n < 1 || err != nil {
		t.Errorf("preferred multiple %d, %v", n, err)
	}
	// The device may be left out; Oclgrind does not know that.
	if n, err := k.WorkGroupSize(nil); n < 1 && !errors.Is(err, ErrInvalidDevice) {
		t.Errorf("work-group size %d without a device, %v", n, err)
	}
}

func TestIndexSpace(t *testing.T) {
	r := newRig(t, 0)
	k := r.kernel(`kernel void space(global uint *out) {
		uint x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
		out[(z*8 + y)*8 + x] = get_local_size(0) + 16*get_local_size(1) + 256*get_local_size(2);
	}`, "space")
	out := r.buffer(4 * 512)
	r.write(out, make([]byte, 4*512))
	r.must(k.SetArgs(out))
	r.done(r.queue.EnqueueNDRangeKernel(k, []int{1, 2, 3}, []int{4, 6, 2}, []int{4, 3, 1}, []*Event{}))
	for i, got := range words(r.read(out, 4*512)) {
		x, y, z := i%8, i/8%8, i/64
		var want uint32
		if x >= 1 && x < 5 && y >= 2 && y < 8 && z >= 3 && z < 5 {
			want = 4 + 16*3 + 256*1
		}
		if got != want {
			t.Fatalf("(%d, %d, %d) is %#x, want %#x", x, y, z, got, want)
		}
	}

	errorOf := func(kernel *Kernel, offset, global, local []int) error {
		_, err := r.queue.EnqueueNDRangeKernel(kernel, offset, global, local, nil)
		return err
	}
	for name, c := range map[string]struct{ got, want error }{
		"no dimension":           {errorOf(k, nil, nil, nil), ErrInvalidWorkDimension},
		"empty dimensions":       {errorOf(k, []int{}, []int{}, []int{}), ErrInvalidWorkDimension},
		"four dimensions":        {errorOf(k, nil, []int{1, 1, 1, 1}, nil), ErrInvalidWorkDimension},
		"negative global size":   {errorOf(k, nil, []int{-8}, nil), ErrInvalidGlobalWorkSize},
		"offset of two":          {errorOf(k, []int{0, 0}, []int{8}, nil), ErrInvalidGlobalOffset},
		"negative offset":        {errorOf(k, []int{-1}, []int{8}, nil), ErrInvalidGlobalOffset},
		"local of two":           {errorOf(k, nil, []int{8}, []int{4, 1}), ErrInvalidWorkGroupSize},
		"negative local":         {errorOf(k, nil, []int{8}, []int{-4}), ErrInvalidWorkGroupSize},
		"too large a work-group": {errorOf(k, nil, []int{1 << 24}, []int{1 << 24}), nil}, // any error
		"nil kernel":             {errorOf(nil, nil, []int{8}, nil), ErrInvalidKernel},
	} {
		if c.got == nil || c.want != nil && !errors.Is(c.got, c.want) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
	bare := r.kernel("kernel void bare(global uint *a) { a[0] = 1; }", "bare")
	if err := errorOf(bare, nil, []int{1}, nil); !errors.Is(err, ErrInvalidKernelArgs) {
		t.Errorf("no argument set: %v", err)
	}
}
