package cl

import (
	"heddle/cl/internal/device"
	"heddle/cl/internal/primitive"
	"heddle/cl/internal/tune"
)

// The types below are aliases: the packages of the operations use them, too, and cannot import
// this package. Their documentation lists fields and methods.
type (
	// Device is an OpenCL device of this machine that is not open yet, from Devices. It is
	// immutable and safe for concurrent use. Methods:
	//
	//	Info() plan.Info           // as an open backend describes it
	//	String() string            // names of the device and its platform
	//	Tuning() Tuning            // the row in force
	//	Preferred() (bool, string) // whether automatic choice may take it, and the reason
	//	Check() error              // refuses a device that the kernels cannot run on
	//
	//	// Adapt returns a row with the limits of the driver, and whether the kernels can run with it.
	//	Adapt(Tuning) (Tuning, bool)
	//	// With returns a copy with other properties.
	//	With(change func(*plan.Info, *Tuning)) *Device
	Device = device.Device

	// Tuning is the shape of the kernels for one device family: a row of the tuning table, as
	// ReadTunings reads it and WriteTuning writes it. A field has the name of its key without
	// underscores: RoundTiles is round_tiles. The head of cl/internal/device/tuning.toml explains
	// the keys. A row with Name and Match (words that occur in the description of the device)
	// takes part in the choice of Devices. 0 is the default of an operation.
	Tuning = device.Tuning

	// Timing is the cost of repeated runs of Scan or Compact. Fields:
	//
	//	Runs     []time.Duration // from the first kernel to the end of the last one
	//	Launches int             // launches of a run
	//	Bytes    uint64          // that a run reads and writes at least
	//	LookBack bool            // kernels with look-back read each element once
	//
	// Runs are times of the clock of the device if the backend profiles, else of the host.
	Timing = primitive.Timing

	// Keep selects elements for Compact. Fields:
	//
	//	Flags           []uint32 // bit i%32 of word i/32 keeps element i
	//	Least, Greatest uint32   // without Flags: keep elements in this range, bounds included
	Keep = primitive.Keep

	// TuneStep is the measurement of one setting by Tune. Fields:
	//
	//	Part    string  // "probe", "decode", ...
	//	Setting string  // "wg=64 tile=256"
	//	Value   float64 // in Unit; greater is better
	//	Unit    string
	//	Best    bool    // the best of its part so far
	//	Err     error   // why the setting did not build, run or answer right; nil if it did
	TuneStep = tune.Step
)
