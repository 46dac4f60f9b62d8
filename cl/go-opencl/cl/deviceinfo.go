package cl

import "unsafe"

// The getters below give the zero value when the driver does not answer.

// Name is the device's name.
func (d *Device) Name() string { return d.text(0x102B) }

// Vendor is the device's vendor.
func (d *Device) Vendor() string { return d.text(0x102C) }

// DriverVersion is the version of the driver, in the vendor's form.
func (d *Device) DriverVersion() string { return d.text(0x102D) }

// Profile is FULL_PROFILE or EMBEDDED_PROFILE.
func (d *Device) Profile() string { return d.text(0x102E) }

// Version is "OpenCL", the version and the vendor's text.
func (d *Device) Version() string { return d.text(0x102F) }

// Extensions lists the device's extensions, separated by spaces.
func (d *Device) Extensions() string { return d.text(0x1030) }

// OpenCLCVersion is "OpenCL C", the version and the vendor's text.
func (d *Device) OpenCLCVersion() string { return d.text(0x103D) }

// Type is the kind of the device.
func (d *Device) Type() DeviceType { return DeviceType(info[uint64](d, 0x1000)) }

// MaxComputeUnits is the number of units that run work-groups side by side.
func (d *Device) MaxComputeUnits() int { return int(info[uint32](d, 0x1002)) }

// MaxWorkItemDimensions is the number of dimensions of an index space, 3 or more.
func (d *Device) MaxWorkItemDimensions() int { return int(info[uint32](d, 0x1003)) }

// MaxWorkGroupSize is the largest number of work-items in a work-group.
func (d *Device) MaxWorkGroupSize() int { return int(info[uintptr](d, 0x1004)) }

// MaxWorkItemSizes is the largest size of a work-group in each dimension.
func (d *Device) MaxWorkItemSizes() []int {
	n := d.MaxWorkItemDimensions()
	if n <= 0 {
		return nil
	}
	sizes := make([]int, n)
	size := uintptr(n) * unsafe.Sizeof(sizes[0])
	if status(clGetDeviceInfo.call(d.id, 0x1005, size, uintptr(unsafe.Pointer(&sizes[0])), 0)) != nil {
		return nil
	}
	return sizes
}

// PreferredVectorWidthInt is the number of 32-bit integers in the vectors that
// suit the device's compiler.
func (d *Device) PreferredVectorWidthInt() int { return int(info[uint32](d, 0x1008)) }

// NativeVectorWidthInt is the number of 32-bit integers in a vector register.
func (d *Device) NativeVectorWidthInt() int { return int(info[uint32](d, 0x1038)) }

// MaxClockFrequency is in MHz.
func (d *Device) MaxClockFrequency() int { return int(info[uint32](d, 0x100C)) }

// AddressBits is the width of an address, 32 or 64.
func (d *Device) AddressBits() int { return int(info[uint32](d, 0x100D)) }

// MaxMemAllocSize is the size of the largest buffer in bytes.
func (d *Device) MaxMemAllocSize() int64 { return int64(info[uint64](d, 0x1010)) }

// MaxParameterSize is the size of all arguments of a kernel in bytes.
func (d *Device) MaxParameterSize() int { return int(info[uintptr](d, 0x1017)) }

// MemBaseAddrAlign is the alignment of a buffer in bits.
func (d *Device) MemBaseAddrAlign() int { return int(info[uint32](d, 0x1019)) }

// GlobalMemCachelineSize is in bytes.
func (d *Device) GlobalMemCachelineSize() int { return int(info[uint32](d, 0x101D)) }

// GlobalMemCacheSize is in bytes.
func (d *Device) GlobalMemCacheSize() int { return int(info[uint64](d, 0x101E)) }

// GlobalMemSize is in bytes.
func (d *Device) GlobalMemSize() int64 { return int64(info[uint64](d, 0x101F)) }

// MaxConstantBufferSize is the size of the largest __constant argument in bytes.
func (d *Device) MaxConstantBufferSize() int64 { return int64(info[uint64](d, 0x1020)) }

// LocalMemType is the place of local memory.
func (d *Device) LocalMemType() LocalMemType { return LocalMemType(info[uint32](d, 0x1022)) }

// LocalMemSize is the local memory of a work-group in bytes.
func (d *Device) LocalMemSize() int64 { return int64(info[uint64](d, 0x1023)) }

// ErrorCorrectionSupport reports whether global memory is protected.
func (d *Device) ErrorCorrectionSupport() bool { return info[uint32](d, 0x1024) != 0 }

// ProfilingTimerResolution is in nanoseconds.
func (d *Device) ProfilingTimerResolution() int { return int(info[uintptr](d, 0x1025)) }

// EndianLittle reports whether the device is little-endian.
func (d *Device) EndianLittle() bool { return info[uint32](d, 0x1026) != 0 }

// Available reports whether the device can be used.
func (d *Device) Available() bool { return info[uint32](d, 0x1027) != 0 }

// CompilerAvailable reports whether programs can be built from source.
func (d *Device) CompilerAvailable() bool { return info[uint32](d, 0x1028) != 0 }

// HostUnifiedMemory reports whether device and host share their memory.
func (d *Device) HostUnifiedMemory() bool { return info[uint32](d, 0x1035) != 0 }

func (d *Device) text(param uintptr) string {
	return infoString(clGetDeviceInfo, d.handle(), param)
}

// info asks for a parameter whose C type has the size of T: cl_uint and cl_bool
// are uint32, cl_ulong and bit fields uint64, size_t is uintptr.
func info[T uint32 | uint64 | uintptr](d *Device, param uintptr) T {
	value := new(T)
	if d.handle() == 0 || status(clGetDeviceInfo.call(d.id, param, unsafe.Sizeof(*value), uintptr(unsafe.Pointer(value)), 0)) != nil {
		return 0
	}
	return *value
}
