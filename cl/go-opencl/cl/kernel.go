package cl

import (
	"fmt"
	"unsafe"
)

// ErrUnsupportedArgumentType is the error of SetArg for a value of an unsupported type.
type ErrUnsupportedArgumentType struct {
	Index int
	Value any
}

func (e ErrUnsupportedArgumentType) Error() string {
	return fmt.Sprintf("cl: unsupported argument type for index %d: %T", e.Index, e.Value)
}

// LocalBuffer is an argument of that many bytes of local memory.
type LocalBuffer int

// Kernel is a function of a program with its arguments. It belongs to one goroutine.
type Kernel struct {
	id    uintptr
	value uint64 // the argument that is being set: here it needs no place of its own
}

// SetArgs sets all arguments, as SetArg does.
func (k *Kernel) SetArgs(args ...any) error {
	for index, arg := range args {
		if err := k.SetArg(index, arg); err != nil {
			return err
		}
	}
	return nil
}

// SetArg sets one argument: an integer of 8, 32 or 64 bits, a float32, a
// *MemObject or a LocalBuffer.
func (k *Kernel) SetArg(index int, arg any) error {
	switch v := arg.(type) {
	case uint8:
		return k.SetArgUint8(index, v)
	case int8:
		return k.SetArgInt8(index, v)
	case uint32:
		return k.SetArgUint32(index, v)
	case int32:
		return k.SetArgInt32(index, v)
	case uint64:
		return k.SetArgUint64(index, v)
	case int64:
		return k.SetArgInt64(index, v)
	case float32:
		return k.SetArgFloat32(index, v)
	case *MemObject:
		return k.SetArgBuffer(index, v)
	case LocalBuffer:
		return k.SetArgLocal(index, int(v))
	}
	return ErrUnsupportedArgumentType{Index: index, Value: arg}
}

// SetArgBuffer sets a __global or __constant pointer.
func (k *Kernel) SetArgBuffer(index int, buffer *MemObject) error {
	if buffer.handle() == 0 {
		return ErrInvalidMemObject
	}
	return k.SetArgUnsafe(index, int(unsafe.Sizeof(buffer.id)), unsafe.Pointer(&buffer.id))
}

// SetArgLocal sets a __local pointer to size bytes.
func (k *Kernel) SetArgLocal(index int, size int) error {
	return k.SetArgUnsafe(index, size, nil)
}

// SetArgUint8 sets a uchar.
func (k *Kernel) SetArgUint8(index int, val uint8) error { return setArg(k, index, val) }

// SetArgInt8 sets a char.
func (k *Kernel) SetArgInt8(index int, val int8) error { return setArg(k, index, val) }

// SetArgUint32 sets a uint.
func (k *Kernel) SetArgUint32(index int, val uint32) error { return setArg(k, index, val) }

// SetArgInt32 sets an int.
func (k *Kernel) SetArgInt32(index int, val int32) error { return setArg(k, index, val) }

// SetArgUint64 sets a ulong.
func (k *Kernel) SetArgUint64(index int, val uint64) error { return setArg(k, index, val) }

// SetArgInt64 sets a long.
func (k *Kernel) SetArgInt64(index int, val int64) error { return setArg(k, index, val) }

// SetArgFloat32 sets a float.
func (k *Kernel) SetArgFloat32(index int, val float32) error { return setArg(k, index, val) }

// setArg sets a value of at most eight bytes.
func setArg[T any](k *Kernel, index int, val T) error {
	if k.handle() == 0 {
		return ErrInvalidKernel
	}
	*(*T)(unsafe.Pointer(&k.value)) = val
	return k.SetArgUnsafe(index, int(unsafe.Sizeof(val)), unsafe.Pointer(&k.value))
}

// SetArgUnsafe sets an argument to the argSize bytes at arg, which are copied.
func (k *Kernel) SetArgUnsafe(index, argSize int, arg unsafe.Pointer) error {
	switch {
	case k.handle() == 0:
		return ErrInvalidKernel
	case index < 0:
		return ErrInvalidArgIndex
	case argSize <= 0:
		return ErrInvalidArgSize
	}
	return status(clSetKernelArg.call(k.id, uintptr(index), uintptr(argSize), uintptr(arg)))
}

// PreferredWorkGroupSizeMultiple is the preferred factor of the size of a
// work-group. The device may be nil when the kernel was built for one only.
func (k *Kernel) PreferredWorkGroupSizeMultiple(device *Device) (int, error) {
	return k.workGroupInfo(device, 0x11B3)
}

// WorkGroupSize is the largest work-group that the kernel can run in. The device
// may be nil when the kernel was built for one only.
func (k *Kernel) WorkGroupSize(device *Device) (int, error) {
	return k.workGroupInfo(device, 0x11B0)
}

func (k *Kernel) workGroupInfo(device *Device, param uintptr) (int, error) {
	if k.handle() == 0 {
		return 0, ErrInvalidKernel
	}
	var size uintptr
	err := status(clGetKernelWorkGroupInfo.call(k.id, device.handle(), param, unsafe.Sizeof(size), uintptr(unsafe.Pointer(&size)), 0))
	return int(size), err
}

// NumArgs is the number of the kernel's arguments.
func (k *Kernel) NumArgs() (int, error) {
	if k.handle() == 0 {
		return 0, ErrInvalidKernel
	}
	var n uint32
	err := status(clGetKernelInfo.call(k.id, 0x1191, unsafe.Sizeof(n), uintptr(unsafe.Pointer(&n)), 0))
	return int(n), err
}

// Release gives the kernel back.
func (k *Kernel) Release() {
	if k != nil {
		release(clReleaseKernel, &k.id)
	}
}

func (k *Kernel) handle() uintptr {
	if k == nil {
		return 0
	}
	return k.id
}
