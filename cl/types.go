package cl

import (
	"heddle/cl/internal/device"
	"heddle/cl/internal/primitive"
	"heddle/cl/internal/tune"
)

type (
	// Device is an OpenCL device of this machine that is not open yet.
	Device = device.Device
	// Tuning is the shape of the kernels for one device family, a row of the tuning table.
	Tuning = device.Tuning
	// Timing is the cost of repeated runs of Scan or Compact.
	Timing = primitive.Timing
	// Keep selects elements for Compact.
	Keep = primitive.Keep
	// TuneStep is the measurement of one setting by Tune.
	TuneStep = tune.Step
)
