package device

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"
)

// Kernel is a kernel function whose arguments are the struct A. The fields of A have the names, the
// order and the types of the parameters of the kernel (field termsAt is parameter terms_at).
// TestArguments of package cl compares them with the sources. Types:
//
//	*ocl.MemObject     a pointer to global memory
//	[n]*ocl.MemObject  n such parameters: field a is a0, a1, …
//	int                uint: the lower 32 bits
//	bool               uint: 0 or 1
//	[4]uint32          uint4
//	LocalBytes         a pointer to local memory of so many bytes
//
// The fields of an embedded struct take its place. A tag `macro:"NAME"` marks a parameter that only
// programs with this macro have.
type Kernel[A any] struct{ KernelID }

// NewKernel names the kernel function of a program without features.
func NewKernel[A any](name string) Kernel[A] { return Kernel[A]{KernelID{Name: name}} }

// For returns the kernel of a program with some features.
func (k Kernel[A]) For(with Features) Kernel[A] {
	k.With = with
	return k
}

// In returns the kernel of the program that id names, of which another operation has a copy.
func (k Kernel[A]) In(id KernelID) Kernel[A] {
	k.Program, k.With = id.Name, id.With
	return k
}

// Launch sets the arguments of the kernel and enqueues it with so many work-groups of local
// work-items. Its duration goes to a counter. It runs in Runtime.Do, after Runtime.ProgramOf.
func (k Kernel[A]) Launch(x *Flight, args A, groups, local int, to Counter) error {
	return x.launch(k.KernelID, reflect.TypeFor[A](), unsafe.Pointer(&args), 1, [2]int{groups}, [2]int{local}, false, to)
}

// LaunchWhole is Launch in one piece, for a kernel that asks for the number of its work-groups, or whose work-groups take unequal times.
func (k Kernel[A]) LaunchWhole(x *Flight, args A, groups, local int, to Counter) error {
	return x.launch(k.KernelID, reflect.TypeFor[A](), unsafe.Pointer(&args), 1, [2]int{groups}, [2]int{local}, true, to)
}

// LaunchRows is Launch in two dimensions.
func (k Kernel[A]) LaunchRows(x *Flight, args A, groups, local [2]int, to Counter) error {
	return x.launch(k.KernelID, reflect.TypeFor[A](), unsafe.Pointer(&args), 2, groups, local, false, to)
}

// Function is a Kernel of any type of arguments.
type Function interface {
	ID() KernelID
	Arguments() reflect.Type
}

// ID names the kernel and its program.
func (id KernelID) ID() KernelID { return id }

// Arguments returns the type A.
func (k Kernel[A]) Arguments() reflect.Type { return reflect.TypeFor[A]() }

// LocalBytes is an argument: a size of local memory.
type LocalBytes int

// Parameter is a parameter of a kernel, and the place of its argument.
type Parameter struct {
	Name string
	Type string  // "buffer", "local", "uint" or "uint4"
	bits bool    // the argument is a bool
	at   uintptr // bytes from the start of the arguments
}

// Parameters lists the parameters of a kernel in a program with the macros that has reports.
func Parameters(arguments reflect.Type, has func(macro string) bool) []Parameter {
	return appendParameters(nil, arguments, 0, has)
}

func appendParameters(to []Parameter, arguments reflect.Type, at uintptr, has func(macro string) bool) []Parameter {
	for f := range arguments.Fields() {
		if macro, ok := f.Tag.Lookup("macro"); ok && !has(macro) {
			continue
		}
		p := Parameter{Name: parameterName(f.Name), at: at + f.Offset}
		switch f.Type {
		case reflect.TypeFor[*ocl.MemObject]():
			p.Type = "buffer"
		case reflect.TypeFor[int]():
			p.Type = "uint"
		case reflect.TypeFor[bool]():
			p.Type, p.bits = "uint", true
		case reflect.TypeFor[[4]uint32]():
			p.Type = "uint4"
		case reflect.TypeFor[LocalBytes]():
			p.Type = "local"
		default:
			if f.Anonymous {
				to = appendParameters(to, f.Type, p.at, has)
				continue
			}
			for i := range f.Type.Len() { // an array of buffers
				to = append(to, Parameter{Name: fmt.Sprint(p.Name, i), Type: "buffer", at: p.at + uintptr(i)*f.Type.Elem().Size()})
			}
			continue
		}
		to = append(to, p)
	}
	return to
}

// parameterName returns the name of the parameter of a field.
func parameterName(field string) string {
	var b strings.Builder
	for i, r := range field {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// kernel is a kernel object of one flight with its present arguments. Most arguments stay
// from round to round, and each OpenCL call takes time and allocates.
type kernel struct {
	*ocl.Kernel
	parameters []Parameter
	values     []value
	group      int // work-items of a work-group at most
	pace       *pace
}

// value is an argument: a buffer, or a number if the buffer is nil.
type value struct {
	buffer *ocl.MemObject
	n      int
	set    bool
}

// set sets the arguments that have changed.
func (k *kernel) set(args unsafe.Pointer) error {
	for i := range k.parameters {
		p := &k.parameters[i]
		at, v := unsafe.Add(args, p.at), value{set: true}
		switch {
		case p.Type == "buffer":
			v.buffer = *(**ocl.MemObject)(at)
		case p.Type == "uint4":
			v.set = false // never the same as before
		case p.bits:
			if *(*bool)(at) {
				v.n = 1
			}
		default:
			v.n = *(*int)(at)
		}
		if v == k.values[i] && v.set {
			continue
		}
		var err error
		switch p.Type {
		case "buffer":
			err = k.SetArgBuffer(i, v.buffer)
		case "uint4":
			err = k.SetArgUnsafe(i, 16, at)
		case "local":
			err = k.SetArgLocal(i, v.n)
		default:
			err = k.SetArgUint32(i, uint32(v.n))
		}
		if err != nil {
			k.values[i] = value{}
			return fmt.Errorf("argument %s: %w", p.Name, err)
		}
		k.values[i] = v
	}
	return nil
}

// kernel returns the flight's object of a kernel and makes it on first use.
func (x *Flight) kernel(id KernelID, arguments reflect.Type) (*kernel, error) {
	if k := x.kernels[id]; k != nil {
		return k, nil
	}
	p, err := x.Device.ProgramOf(id)
	if err != nil {
		return nil, err
	}
	object, err := p.CreateKernel(id.Name)
	if err != nil {
		return nil, x.Device.Fail("creating kernel "+id.Name, err)
	}
	k := &kernel{Kernel: object, parameters: Parameters(arguments, x.Device.hasMacro(id))}
	k.pace = x.Device.paceOf(id)
	k.values = make([]value, len(k.parameters))
	// Kernels with many registers run in smaller work-groups on some devices. Some drivers (rusticl) name fewer than
	// they run, so the number only explains a refusal.
	if n, err := object.WorkGroupSize(x.Device.dev.handle); err == nil && n > 0 {
		k.group = n
	} else {
		k.group = x.Device.dev.group
	}
	x.kernels[id] = k
	return k, nil
}

func (x *Flight) launch(id KernelID, arguments reflect.Type, args unsafe.Pointer, dimensions int, groups, local [2]int, whole bool, to Counter) error {
	k, err := x.kernel(id, arguments)
	if err != nil {
		return err
	}
	if err := k.set(args); err != nil {
		return fmt.Errorf("kernel %s: %w", id.Name, err)
	}
	// A launch is cut along its last dimension.
	last := dimensions - 1
	beside := 1 // work-groups of one step
	if last > 0 {
		beside = groups[0]
	}
	enqueue := func(from, n int) error {
		x.local = local
		for i := range x.global {
			x.global[i], x.offset[i] = groups[i]*local[i], 0
		}
		x.global[last], x.offset[last] = n*local[last], from*local[last]
		offset := x.offset[:0]
		if from > 0 {
			offset = x.offset[:dimensions]
		}
		e, err := x.Queue.EnqueueNDRangeKernel(k.Kernel, offset, x.global[:dimensions], x.local[:dimensions], nil)
		if items := local[0] * max(local[1], 1); errors.Is(err, ocl.ErrInvalidWorkGroupSize) && items > k.group {
			return x.Device.Unfit(fmt.Sprintf("kernel %s runs in work-groups of %d work-items at most there, not of %d", id.Name, k.group, items))
		}
		return x.Sent(e, err, to)
	}
	steps := groups[last]
	switch {
	case !whole && beside*steps > k.pace.groups():
		// Kernels and some drivers (NVIDIA's) know the lower 32 bits of an offset.
		reach := int(uint64(1<<32-1) / uint64(local[last]))
		return k.pace.cut(steps, beside, reach, x.Pause, enqueue)
	case !whole && steps > 1 && x.Device.halving.Load() > 0:
		if err := enqueue(0, steps/2); err != nil {
			return err
		}
		return enqueue(steps/2, steps-steps/2)
	}
	return enqueue(0, steps)
}
