package cl

import ocl "github.com/jgillich/go-opencl/cl"

// kernel is a kernel object of one flight and the arguments that it has. Most of them
// stay from round to round, and each call of OpenCL takes time and makes an object.
type kernel struct {
	*ocl.Kernel
	has []argument
}

// argument is a buffer, or a number where that is nil.
type argument struct {
	buffer *ocl.MemObject
	n      int
}

// localBytes is an argument: so much local memory.
type localBytes int

// arguments sets the arguments of a kernel in their order: buffers, numbers, and
// local memory. Those that it has already stay.
func arguments(k *kernel, args ...any) error {
	for i, a := range args {
		var err error
		switch a := a.(type) {
		case *ocl.MemObject:
			if k.differs(i, argument{buffer: a}) {
				err = k.SetArgBuffer(i, a)
			}
		case int:
			if k.differs(i, argument{n: a}) {
				err = k.SetArgUint32(i, uint32(a))
			}
		case localBytes:
			if k.differs(i, argument{n: int(a)}) {
				err = k.SetArgLocal(i, int(a))
			}
		}
		if err != nil {
			k.has = k.has[:i]
			return err
		}
	}
	return nil
}

// differs says whether argument i is another one so far, and notes a in its place.
func (k *kernel) differs(i int, a argument) bool {
	switch {
	case i == len(k.has):
		k.has = append(k.has, a)
	case k.has[i] == a:
		return false
	default:
		k.has[i] = a
	}
	return true
}
