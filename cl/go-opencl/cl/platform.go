package cl

import (
	"bytes"
	"unsafe"
)

// Platform is one installed driver. It lives as long as the process.
type Platform struct {
	id uintptr
}

// GetPlatforms returns the installed platforms. Without the library the error
// wraps ErrUnsupported; without a driver that works it is ErrOther(-1001) or the
// slice is empty, as the ICD loader has it.
func GetPlatforms() ([]*Platform, error) {
	if err := load(); err != nil {
		return nil, err
	}
	var n uint32
	if err := status(clGetPlatformIDs.call(0, 0, uintptr(unsafe.Pointer(&n)))); err != nil || n == 0 {
		return nil, err
	}
	ids := make([]uintptr, n)
	if err := status(clGetPlatformIDs.call(uintptr(n), uintptr(unsafe.Pointer(&ids[0])), 0)); err != nil {
		return nil, err
	}
	platforms := make([]*Platform, n)
	for i, id := range ids {
		platforms[i] = &Platform{id: id}
	}
	return platforms, nil
}

// GetDevices returns the platform's devices of the given types. The error is
// ErrDeviceNotFound when there are none.
func (p *Platform) GetDevices(deviceType DeviceType) ([]*Device, error) {
	if p.handle() == 0 {
		return nil, ErrInvalidPlatform
	}
	return GetDevices(p, deviceType)
}

// Name is the name of the platform. It is empty if the driver does not answer, like the
// results of the getters below.
func (p *Platform) Name() string { return p.info(0x0902) }

// Vendor is the platform's vendor.
func (p *Platform) Vendor() string { return p.info(0x0903) }

// Profile is FULL_PROFILE or EMBEDDED_PROFILE.
func (p *Platform) Profile() string { return p.info(0x0900) }

// Version is "OpenCL", the version and the platform's own text.
func (p *Platform) Version() string { return p.info(0x0901) }

// Extensions lists the platform's extensions, separated by spaces.
func (p *Platform) Extensions() string { return p.info(0x0904) }

func (p *Platform) info(param uintptr) string {
	return infoString(clGetPlatformInfo, p.handle(), param)
}

func (p *Platform) handle() uintptr {
	if p == nil {
		return 0
	}
	return p.id
}

// infoString asks get for a string parameter of the object id. It is empty when
// there is no such object or get fails.
func infoString(get *function, id, param uintptr) string {
	var size uintptr
	if id == 0 || status(get.call(id, param, 0, 0, uintptr(unsafe.Pointer(&size)))) != nil || size == 0 {
		return ""
	}
	text := make([]byte, size)
	if status(get.call(id, param, size, uintptr(unsafe.Pointer(&text[0])), 0)) != nil {
		return ""
	}
	text, _, _ = bytes.Cut(text, []byte{0})
	return string(text)
}
