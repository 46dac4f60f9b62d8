package cl

import (
	"errors"
	"fmt"
	"strings"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/plan"
)

// Device is an OpenCL device that was found; Open makes a backend of it.
type Device struct {
	handle *ocl.Device
	info   plan.Info
	tuning Tuning
	quirks quirks
}

// Devices lists the devices whose name, vendor or platform contains filter (case
// ignored; empty: all), GPUs first. Rows of tuning go before the built-in ones. On a machine without an OpenCL library or
// driver it returns none and the reason.
func Devices(filter string, rows ...Tuning) ([]*Device, error) {
	platforms, err := ocl.GetPlatforms()
	if err != nil {
		return nil, fmt.Errorf("cl: no OpenCL here: %w", err)
	}
	var gpus, others []*Device
	var errs []error
	for _, p := range platforms {
		devices, err := p.GetDevices(ocl.DeviceTypeAll)
		if err != nil {
			if !errors.Is(err, ocl.ErrDeviceNotFound) {
				errs = append(errs, fmt.Errorf("cl: platform %s: %w", p.Name(), err))
			}
			continue
		}
		for _, h := range devices {
			d := describe(p, h, rows)
			if !strings.Contains(strings.ToLower(d.info.Device+"\n"+d.info.Vendor+"\n"+d.info.Platform), strings.ToLower(filter)) {
				continue
			}
			if d.info.Type == "gpu" {
				gpus = append(gpus, d)
			} else {
				others = append(others, d)
			}
		}
	}
	return append(gpus, others...), errors.Join(errs...)
}

func describe(p *ocl.Platform, h *ocl.Device, rows []Tuning) *Device {
	d := &Device{handle: h, quirks: quirksFor(p.Name(), h.Name())}
	d.info = plan.Info{
		Kind:         "opencl",
		Device:       strings.TrimSpace(h.Name()),
		Platform:     strings.TrimSpace(p.Name()),
		Vendor:       strings.TrimSpace(h.Vendor()),
		Driver:       strings.TrimSpace(h.DriverVersion()),
		Version:      strings.TrimSpace(h.Version()),
		Type:         typeName(h.Type()),
		ComputeUnits: h.MaxComputeUnits(),
		Memory:       uint64(max(h.GlobalMemSize(), 0)),
		MaxAlloc:     uint64(max(h.MaxMemAllocSize(), 0)),
		LocalMemory:  uint64(max(h.LocalMemSize(), 0)),
		Algorithms:   algorithms,
	}
	d.tuning = d.quirks.apply(tuningFor(strings.Join([]string{d.info.Device, d.info.Vendor, d.info.Platform, d.info.Type}, " "), rows...))
	d.describeTuning()
	return d
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

// describeTuning copies what others are told of the tuning row.
func (d *Device) describeTuning() {
	t := d.tuning
	d.info.Tuning, d.info.Batch = t.Name, t.Batch
	d.info.BatchPostings, d.info.RankBatches = t.RankBatch, t.rankSlots()
}

// Info describes the device as a backend would.
func (d *Device) Info() plan.Info { return d.info }

// String names the device and its platform.
func (d *Device) String() string { return d.info.Device + " (" + d.info.Platform + ")" }

// Tuning is the row of the tuning table in force.
func (d *Device) Tuning() Tuning { return d.tuning }

// Preferred reports whether auto may take the device, and why not: a CPU shares
// its cores with pure Go and is taken only where its tuning row says that it
// was measured to be faster.
func (d *Device) Preferred() (bool, string) {
	switch {
	case d.info.Type == "gpu" && !strings.Contains(strings.ToLower(d.info.Device), "llvmpipe"):
		return true, "a GPU"
	case d.tuning.BeatsHost:
		return true, "a CPU that its tuning row puts ahead of pure Go"
	}
	return false, "a CPU device: pure Go was measured to be faster on the same cores"
}

// skipWork is the local memory of skip.cl beside its elements, in bytes: WORK_WORDS of
// kernels/segments_any.cl with rpfd, which needs the most.
const skipWork = 4 * (128 + 2*128*(4+1) + lanes)

// check refuses a device that the kernels cannot run on.
func (d *Device) check() error {
	t := d.tuning
	local := max(4*max(8*t.decodeLocal()+1, 4*t.Tile+t.Tile/32+3), 10*t.Tile+skipWork, 8*t.mergeTile()+16*t.MergeWG+4*65, formulaLocal, t.rankMemory(), t.selectMemory(), t.tableMemory())
	group := max(t.local(), t.decodeLocal(), t.mergeLocal(), t.setLocal(), t.rankLocal(), t.selectLocal(), t.tableLocal())
	fault := t.check()
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
	case d.handle.MaxWorkGroupSize() < group:
		why = fmt.Sprintf("its work-groups hold %d work-items, the kernels ask for %d", d.handle.MaxWorkGroupSize(), group)
	case !t.Serial && d.info.LocalMemory < uint64(local):
		why = fmt.Sprintf("it has %d bytes of local memory, the kernels ask for %d", d.info.LocalMemory, local)
	case d.info.MaxAlloc < 1<<20:
		why = fmt.Sprintf("its largest buffer is %d bytes", d.info.MaxAlloc)
	default:
		return nil
	}
	return &plan.DeviceError{Kind: plan.ErrNoDevice, Device: d.String(), Op: "checking limits", Err: errors.New(why)}
}
