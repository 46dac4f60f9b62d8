//go:build !noopencl && !amd64 && !arm64

package cl

func floatMode() uint32 { return 0 }

func setFloatMode(uint32) {}
