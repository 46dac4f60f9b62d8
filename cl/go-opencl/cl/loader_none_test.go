//go:build noopencl

package cl

import (
	"errors"
	"testing"
)

func TestNoOpenCL(t *testing.T) {
	if p, err := GetPlatforms(); p != nil || !errors.Is(err, ErrUnsupported) {
		t.Errorf("GetPlatforms: %v, %v", p, err)
	}
	if d, err := GetDevices(nil, DeviceTypeAll); d != nil || !errors.Is(err, ErrUnsupported) {
		t.Errorf("GetDevices: %v, %v", d, err)
	}
	if c, err := CreateContext([]*Device{{}}); c != nil || !errors.Is(err, ErrUnsupported) {
		t.Errorf("CreateContext: %v, %v", c, err)
	}
	if err := toError(int32(clFinish.call())); !errors.Is(err, ErrInvalidOperation) {
		t.Errorf("a call gives %v", err)
	}
}
