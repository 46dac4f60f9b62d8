package plan

import (
	"errors"
	"fmt"
	"strings"
)

// Causes of backend errors, for errors.Is.
var (
	// ErrUnsupported: the backend does not implement the algorithm, codec, strategy or filter.
	ErrUnsupported = errors.New("unsupported")
	ErrNoDevice    = errors.New("no such device")
	ErrOutOfMemory = errors.New("out of memory")
	ErrTooLarge    = errors.New("too large for this backend") // a query that does not fit even with all memory free; another backend may take it
	ErrDeviceLost  = errors.New("device lost")
	ErrBuild       = errors.New("kernel build failed")
	ErrSelfTest    = errors.New("self-test failed")
	ErrClosed      = errors.New("closed")
)

// DeviceError is an error of a backend. It names the device, the operation and the cause.
type DeviceError struct {
	Kind   error  // one of the Err values above
	Device string // name of the device
	Op     string // operation
	Err    error  // error of the driver, may be nil
	Log    string // compiler log of a failed build, else empty
}

func (e *DeviceError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s: %s", e.Device, e.Op, e.Kind)
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	if e.Log != "" {
		fmt.Fprintf(&b, "\n%s", strings.TrimSpace(e.Log))
	}
	return b.String()
}

// Is finds the kind.
func (e *DeviceError) Is(target error) bool { return target == e.Kind }

// Unwrap gives the driver's error.
func (e *DeviceError) Unwrap() error { return e.Err }
