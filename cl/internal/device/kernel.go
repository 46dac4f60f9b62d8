package device

import ocl "github.com/jgillich/go-opencl/cl"

// Kernel is a kernel object of one flight with its present arguments. Most arguments stay
// from round to round, and each OpenCL call takes time and allocates.
type Kernel struct {
	*ocl.Kernel
	has []argument
}

// argument is a buffer, or a number if the buffer is nil.
type argument struct {
	buffer *ocl.MemObject
	n      int
	set    bool
}

// LocalBytes is an argument: a size of local memory.
type LocalBytes int

// SetArguments sets the arguments of a kernel from the first one on: *ocl.MemObject, int for
// a uint32, localBytes. It skips arguments that have their value already.
func SetArguments(k *Kernel, args ...any) error {
	for i, a := range args {
		var err error
		switch a := a.(type) {
		case *ocl.MemObject:
			err = k.SetBuffer(i, a)
		case int:
			err = k.SetInt(i, a)
		case LocalBytes:
			if k.differs(i, argument{n: int(a), set: true}) {
				err = k.keep(i, k.SetArgLocal(i, int(a)))
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// SetBuffer sets argument i to a buffer.
func (k *Kernel) SetBuffer(i int, m *ocl.MemObject) error {
	if !k.differs(i, argument{buffer: m, set: true}) {
		return nil
	}
	return k.keep(i, k.SetArgBuffer(i, m))
}

// SetInt sets argument i to a uint32.
func (k *Kernel) SetInt(i, n int) error {
	if !k.differs(i, argument{n: n, set: true}) {
		return nil
	}
	return k.keep(i, k.SetArgUint32(i, uint32(n)))
}

// differs tells whether argument i has another value so far, and notes a in its place.
func (k *Kernel) differs(i int, a argument) bool {
	for len(k.has) <= i {
		k.has = append(k.has, argument{})
	}
	if k.has[i] == a {
		return false
	}
	k.has[i] = a
	return true
}

// keep forgets the value of argument i after an error.
func (k *Kernel) keep(i int, err error) error {
	if err != nil {
		k.has[i] = argument{}
	}
	return err
}
