package cl

import (
	"strings"
	"unsafe"
)

// DeviceType is a set of kinds of devices.
type DeviceType uint

const (
	DeviceTypeDefault     DeviceType = 1 << 0
	DeviceTypeCPU         DeviceType = 1 << 1
	DeviceTypeGPU         DeviceType = 1 << 2
	DeviceTypeAccelerator DeviceType = 1 << 3
	DeviceTypeAll         DeviceType = 0xFFFFFFFF
)

// String joins the names of the kinds with "|".
func (dt DeviceType) String() string {
	var names []string
	for _, kind := range []struct {
		bit  DeviceType
		name string
	}{
		{DeviceTypeCPU, "CPU"},
		{DeviceTypeGPU, "GPU"},
		{DeviceTypeAccelerator, "Accelerator"},
		{DeviceTypeDefault, "Default"},
	} {
		if dt&kind.bit != 0 {
			names = append(names, kind.name)
		}
	}
	if names == nil {
		return "None"
	}
	return strings.Join(names, "|")
}

// LocalMemType is the place of local memory.
type LocalMemType int

const (
	LocalMemTypeNone   LocalMemType = 0
	LocalMemTypeLocal  LocalMemType = 1 // memory of its own
	LocalMemTypeGlobal LocalMemType = 2 // a part of global memory, as on CPUs
)

func (t LocalMemType) String() string {
	switch t {
	case LocalMemTypeNone:
		return "None"
	case LocalMemTypeLocal:
		return "Local"
	case LocalMemTypeGlobal:
		return "Global"
	}
	return "Unknown"
}

// Device is one device of a platform. It lives as long as the process.
type Device struct {
	id uintptr
}

// GetDevices returns the devices of the given types; a nil platform leaves its
// choice to the ICD loader. The error is ErrDeviceNotFound when there are none.
func GetDevices(platform *Platform, deviceType DeviceType) ([]*Device, error) {
	if err := load(); err != nil {
		return nil, err
	}
	var n uint32
	if err := status(clGetDeviceIDs.call(platform.handle(), uintptr(deviceType), 0, 0, uintptr(unsafe.Pointer(&n)))); err != nil || n == 0 {
		return nil, err
	}
	ids := make([]uintptr, n)
	if err := status(clGetDeviceIDs.call(platform.handle(), uintptr(deviceType), uintptr(n), uintptr(unsafe.Pointer(&ids[0])), 0)); err != nil {
		return nil, err
	}
	devices := make([]*Device, n)
	for i, id := range ids {
		devices[i] = &Device{id: id}
	}
	return devices, nil
}

func (d *Device) handle() uintptr {
	if d == nil {
		return 0
	}
	return d.id
}

// handles returns the handles of all devices; each must be valid.
func handles(devices []*Device) ([]uintptr, error) {
	ids := make([]uintptr, len(devices))
	for i, d := range devices {
		if ids[i] = d.handle(); ids[i] == 0 {
			return nil, ErrInvalidDevice
		}
	}
	return ids, nil
}
