package device

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/plan"
)

// Device is an OpenCL device of this machine that is not open yet. It is immutable.
type Device struct {
	handle *ocl.Device
	info   plan.Info
	tuning Tuning
	quirks quirks
	ops    Operations
	group  int // work-items of a work-group at most
}

// ErrNoPlatform is the cause of an error of Find where no driver offers a platform.
var ErrNoPlatform = errors.New("no OpenCL platform is installed")

// Found is the result of a search for devices.
type Found struct {
	Devices []*Device // GPUs first
	Empty   []string  // names of platforms without a device
}

// Find lists the devices whose name, vendor or platform contains filter. An empty filter takes
// all, case is ignored. Tuning rows of the caller precede the built-in ones. The error is the
// reason why a platform, or all of OpenCL, is missing. It calls step, which may be nil, before
// each step: "platforms", and "devices" of each platform.
func Find(filter string, ops Operations, step func(string), rows ...Tuning) (found Found, err error) {
	if step == nil {
		step = func(string) {}
	}
	step("platforms")
	platforms, err := ocl.GetPlatforms()
	if errors.Is(err, ocl.ErrOther(-1001)) { // CL_PLATFORM_NOT_FOUND_KHR
		err = ErrNoPlatform
	}
	if err != nil {
		return found, fmt.Errorf("cl: no OpenCL here: %w", err)
	}
	var gpus, rest []*Device
	var errs []error
	for _, p := range platforms {
		step("devices")
		devices, err := p.GetDevices(ocl.DeviceTypeAll)
		if err != nil {
			if !errors.Is(err, ocl.ErrDeviceNotFound) {
				errs = append(errs, fmt.Errorf("cl: platform %s: %w", printable(p.Name()), err))
			}
			devices = nil
		}
		if len(devices) == 0 && (err == nil || errors.Is(err, ocl.ErrDeviceNotFound)) {
			found.Empty = append(found.Empty, printable(p.Name()))
		}
		for _, h := range devices {
			d := describe(p, h, ops, rows)
			if !strings.Contains(strings.ToLower(d.info.Device+"\n"+d.info.Vendor+"\n"+d.info.Platform), strings.ToLower(filter)) {
				continue
			}
			if d.info.Type == "gpu" {
				gpus = append(gpus, d)
			} else {
				rest = append(rest, d)
			}
		}
	}
	found.Devices = append(gpus, rest...)
	return found, errors.Join(errs...)
}

// Drivers may report anything. Greater numbers than these are no sizes of a device.
const (
	mostUnits  = 1 << 12
	mostMemory = 1 << 46 // bytes
)

func describe(p *ocl.Platform, h *ocl.Device, ops Operations, rows []Tuning) *Device {
	d := &Device{handle: h, quirks: quirksFor(p.Name(), h.Name()), ops: ops}
	d.info = plan.Info{
		Kind:         "opencl",
		Device:       cmp.Or(printable(h.Name()), "a device without a name"),
		Platform:     printable(p.Name()),
		Vendor:       printable(h.Vendor()),
		Driver:       printable(h.DriverVersion()),
		Version:      printable(h.Version()),
		Type:         typeName(h.Type()),
		ComputeUnits: min(max(h.MaxComputeUnits(), 1), mostUnits),
		Memory:       min(uint64(h.GlobalMemSize()), mostMemory),
		MaxAlloc:     min(uint64(h.MaxMemAllocSize()), mostMemory),
		LocalMemory:  min(uint64(h.LocalMemSize()), mostMemory),
	}
	if h.AddressBits() == 32 {
		d.info.Memory, d.info.MaxAlloc = min(d.info.Memory, 1<<32-1), min(d.info.MaxAlloc, 1<<31-1)
	}
	if d.group = h.MaxWorkGroupSize(); d.group < 0 { // as an unsigned number it has all bits
		d.group = math.MaxInt
	}
	d.tuning = d.quirks.apply(TuningFor(strings.Join([]string{d.info.Device, d.info.Vendor, d.info.Platform, d.info.Type}, " "), rows...))
	if !d.hasRoom(d.tuning) && !d.quirks.noSerial {
		d.tuning.Name += ", serial"
		d.tuning.Serial, d.tuning.NVShuffle, d.tuning.LookBack = true, false, false
		d.tuning.TableTile = 128
	}
	d.describeTuning()
	return d
}

// printable returns a text of a driver without white space around it. Control characters and bytes
// that are not UTF-8, which might change a terminal, become escapes as in Go.
func printable(s string) string {
	s = strings.TrimSpace(s)
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		return s
	}
	quoted := strconv.QuoteToGraphic(s)
	return quoted[1 : len(quoted)-1]
}

func typeName(t ocl.DeviceType) string {
	switch {
	case t&ocl.DeviceTypeGPU != 0:
		return "gpu"
	case t&ocl.DeviceTypeCPU != 0:
		return "cpu"
	}
	return "accelerator"
}

// describeTuning copies properties of the tuning row to the description.
func (d *Device) describeTuning() {
	d.info.Tuning, d.info.Batch = d.tuning.Name, d.tuning.Batch
	d.ops.describe(d.tuning, &d.info)
}

// With returns a copy of d with other properties.
func (d *Device) With(change func(*plan.Info, *Tuning)) *Device {
	copied := *d
	change(&copied.info, &copied.tuning)
	copied.describeTuning()
	return &copied
}

// Info describes the device as an open backend does.
func (d *Device) Info() plan.Info { return d.info }

// String names the device and its platform.
func (d *Device) String() string { return d.info.Device + " (" + d.info.Platform + ")" }

// Tuning returns the tuning row in force.
func (d *Device) Tuning() Tuning { return d.tuning }

// Preferred reports whether automatic choice may take the device, with the reason. A CPU
// device shares its cores with pure Go. It is preferred only if its tuning row records a
// measurement that it is faster.
func (d *Device) Preferred() (bool, string) {
	switch {
	case d.info.Type == "gpu" && !strings.Contains(strings.ToLower(d.info.Device), "llvmpipe"):
		return true, "a GPU"
	case d.tuning.BeatsHost:
		return true, "a CPU that its tuning row puts ahead of pure Go"
	}
	return false, "a CPU device: pure Go was measured to be faster on the same cores"
}

// Adapt returns a row with the limits of the device's driver, and whether the kernels can
// run with it.
func (d *Device) Adapt(row Tuning) (Tuning, bool) {
	row = d.quirks.apply(row)
	return row, d.ops.Check(row) == nil
}

// hasRoom reports whether the work-groups of the kernels of a row fit the device.
func (d *Device) hasRoom(t Tuning) bool {
	local, group := d.ops.limits(t)
	return d.group >= group && d.info.LocalMemory >= uint64(local)
}

// Check refuses a device that the kernels cannot run on.
func (d *Device) Check() error {
	t := d.tuning
	local, group := d.ops.limits(t)
	fault := d.ops.Check(t)
	var why string
	switch {
	case fault != nil:
		why = fmt.Sprintf("its tuning row %q: %v", t.Name, fault)
	case !d.handle.Available():
		why = "the driver says that it is not available"
	case !d.handle.CompilerAvailable():
		why = "the driver has no compiler"
	case !d.handle.EndianLittle():
		why = "it is big-endian; lists are little-endian"
	case d.handle.AddressBits() != 32 && d.handle.AddressBits() != 64:
		why = fmt.Sprintf("its addresses have %d bits", d.handle.AddressBits())
	case d.group < group:
		why = fmt.Sprintf("its work-groups hold %d work-items, the kernels need %d", d.group, group)
	case d.info.LocalMemory < uint64(local):
		why = fmt.Sprintf("it has %d bytes of local memory, the kernels need %d", d.info.LocalMemory, local)
	case d.info.MaxAlloc < 1<<20:
		why = fmt.Sprintf("its largest buffer has %d bytes", d.info.MaxAlloc)
	default:
		return nil
	}
	return &plan.DeviceError{Kind: plan.ErrNoDevice, Device: d.String(), Op: "checking limits", Err: errors.New(why)}
}
