package cl

import (
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/codec"
	"heddle/engine/plan"
)

//go:embed kernels/*.cl
var kernels embed.FS

// feature is something that some rounds ask of a kernel and most do without.
// Each is a define in front of the text, so that the kernels of common rounds
// need no registers for it. A set of features is a program of its own, built when
// a round first needs it.
type feature uint32

const (
	useLines    feature = 1 << iota // lists of lrc, lrcseg, seglrc, hslrc are looked up
	useIS                           // interpolation search
	useLRSeg                        // local safe ranges
	usePMF                          // parallel merge find
	usePart                         // a query to a work-group
	useParaPFor                     // lists of a gap codec are looked up
	useVByte
	useRice
	usePFD
	useNewPFD
	useRPFD
	useWide    // vectors of tables have words of 64 bits
	useArenas  // and more than one buffer
	useStored  // stored values are asked for
	useColumns // what StepAny gives is there already
	useGaps    = useParaPFor | useVByte | useRice | usePFD | useNewPFD | useRPFD
)

// featureNames are the defines, by bit.
var featureNames = []string{"USE_LINES", "USE_IS", "USE_LRSEG", "USE_PMF", "USE_PART",
	"USE_PARAPFOR", "USE_VBYTE", "USE_RICE", "USE_PFD", "USE_NEWPFD", "USE_RPFD", "USE_WIDE", "USE_ARENAS", "USE_STORED", "USE_COLUMNS"}

// lookup is the feature that looking up a list of a codec asks for.
func lookup(id codec.ID) feature {
	switch id {
	case codec.ParaPFor:
		return useParaPFor
	case codec.VByte, codec.Rice, codec.PFD, codec.NewPFD, codec.RPFD:
		return useVByte << (id - codec.VByte)
	case codec.LRC, codec.LRCSeg, codec.SegLRC, codec.HSLRC128, codec.HSLRC256:
		return useLines
	}
	return 0
}

// kernelID names a kernel: its function and the features that it is built with.
type kernelID struct {
	name string
	with feature
}

// decoders are the kernels that turn shortest lists into docIDs. A round launches
// those that its lists ask for.
var decoders = [...]kernelID{{name: "decode"}, {name: "decode_lines"}, {name: "decode_vbyte"}, {name: "decode_rice"},
	{name: "decode_pfd"}, {name: "decode_newpfd"}, {name: "decode_rpfd"}}

// noDecoder is the decoder of lists that are used as they lie.
const noDecoder = -1

// decoderOf says which of decoders reads a codec.
func decoderOf(id codec.ID) int {
	switch id {
	case codec.Raw:
		return noDecoder
	case codec.ParaPFor, codec.Bitset:
		return 0
	case codec.VByte, codec.Rice, codec.PFD, codec.NewPFD, codec.RPFD:
		return int(id-codec.VByte) + 2
	}
	return 1 // under lines
}

// decodeShape is how decoder d is launched for so many runs: work-groups and the
// size of each. Gap codecs take DECODE_WG/LANES groups of LANES a run.
func (t Tuning) decodeShape(d, runs int) (groups, local int) {
	local = t.decodeLocal()
	if d < 2 || t.Serial {
		return runs, local
	}
	return local / lanes * runs, lanes
}

// The kernels of rounds without features: they are one program, since a build
// costs more than a kernel, and it is built when the device is opened.
var coreKernels = []kernelID{{name: "decode"}, {name: "intersect"}, {name: "gather"}}

// files are the texts that a kernel is made of, behind common.cl.
func (k kernelID) files() []string {
	switch k.name {
	case "decode":
		return []string{"decode.cl"}
	case "decode_lines":
		return []string{"lines.cl", "decode_lines.cl"}
	case "decode_vbyte", "decode_rice", "decode_pfd", "decode_newpfd", "decode_rpfd":
		return append(slices.Clip(segmentFiles), "decode_gaps.cl")
	case "gather":
		return []string{"compact.cl"}
	case "merge":
		return []string{"probe.cl", "window.cl", "group.cl", "merge.cl"}
	case rankProgram.name:
		return []string{"posting.cl", "share.cl", "rank.cl", "conjoin.cl"}
	case globalProgram.name:
		return []string{"posting.cl", "accumulate_global.cl"}
	case formulaProgram.name:
		return []string{"formula.cl"}
	case selectProgram.name:
		return []string{"group.cl", "select.cl"}
	case rowsProgram:
		return []string{"wah.cl", "directory.cl", "tile.cl", "any_serial.cl", "any.cl", "rows.cl"}
	case scanProgram.name:
		return []string{"group.cl", "scan.cl"}
	case nelsonProgram:
		return []string{"group.cl", "scan.cl", "wah.cl", "directory.cl", "chunk.cl", "decompress.cl", "reduce.cl"}
	}
	var files []string
	if k.with&useLines != 0 {
		files = append(files, "probe_lines.cl")
	}
	files = append(files, "probe.cl")
	if k.with&useGaps != 0 {
		files = append(files, segmentFiles...)
	}
	return append(files, k.with.shell())
}

// segmentFiles are the texts that decode segments of gap codecs.
var segmentFiles = []string{"gaps.cl", "segments.cl", "segments_rpfd.cl", "segments_serial.cl", "segments_any.cl"}

// shell is the file with the kernel that walks tiles and asks probe.cl.
func (f feature) shell() string {
	switch {
	case f&useGaps != 0:
		return "skip.cl"
	case f&usePMF != 0:
		return "pmf.cl"
	}
	return "intersect.cl"
}

// probeLocal is the work-group size of the kernel that walks tiles: that of skip.cl
// is LANES.
func (t Tuning) probeLocal(with feature) int {
	if with&useGaps != 0 && !t.Serial {
		return lanes
	}
	return t.local()
}

// programSource is the text that the driver compiles for some kernels with the
// same features: defines, then files.
func programSource(t Tuning, countLoads bool, some ...kernelID) string {
	var b strings.Builder
	b.WriteString(t.defines(countLoads))
	for i, name := range featureNames {
		if some[0].with>>i&1 != 0 {
			fmt.Fprintf(&b, "#define %s 1\n", name)
		}
	}
	files := []string{"common.cl"}
	for _, k := range some {
		files = append(files, k.files()...)
	}
	for _, name := range files {
		text, err := kernels.ReadFile("kernels/" + name)
		if err != nil {
			panic(err) // embedded
		}
		b.Write(text)
		b.WriteByte('\n')
	}
	return b.String()
}

// programOf returns the program that holds k, and builds it on first use. It is
// safe for concurrent use; who needs a program that somebody builds waits.
func (b *Backend) programOf(k kernelID) (*ocl.Program, error) {
	if k.name == "merge_ahead" { // in the same file
		k.name = "merge"
	}
	b.building.Lock()
	defer b.building.Unlock()
	if p := b.programs[k]; p != nil {
		return p, nil
	}
	p, err := b.build(programSource(b.tuning, b.opt.CountLoads, k))
	if err != nil {
		return nil, err
	}
	b.programs[k] = p
	return p, nil
}

// buildCore builds the kernels that every device needs.
func (b *Backend) buildCore() error {
	p, err := b.build(programSource(b.tuning, b.opt.CountLoads, coreKernels...))
	if err != nil {
		return err
	}
	b.core = p
	for _, k := range coreKernels {
		b.programs[k] = p
	}
	return nil
}

// releasePrograms releases each program once.
func (b *Backend) releasePrograms() {
	for _, p := range b.programs {
		if p != b.core {
			p.Release()
		}
	}
	if b.core != nil {
		b.core.Release()
	}
}

// build compiles a text for the device; the compiler's log is in the error.
func (b *Backend) build(source string) (*ocl.Program, error) {
	if err := b.fault("build"); err != nil {
		return nil, err
	}
	p, err := b.context.CreateProgramWithSource([]string{source})
	if err != nil {
		return nil, b.fail("creating the program", err)
	}
	if err := p.BuildProgram([]*ocl.Device{b.dev.handle}, "-cl-std=CL1.2"); err != nil {
		p.Release()
		e := &plan.DeviceError{Kind: plan.ErrBuild, Device: b.dev.String(), Op: "building the kernels"}
		var log ocl.BuildError
		if errors.As(err, &log) {
			e.Log = string(log)
		} else {
			e.Err = err
		}
		return nil, e
	}
	return p, nil
}
