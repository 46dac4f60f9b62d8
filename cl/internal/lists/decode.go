package lists

import (
	"fmt"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/codec"
	"heddle/engine/plan"
)

// Constants of kernels/common.cl and of the layout of uploads.
const (
	RunLen      = 1024 // RUN: elements of a run at most
	RunWords    = 8    // words of a run record
	RecordWords = 8    // words of a term record
	BlockTiles  = 64   // BLOCK: tiles of one sum
	Lanes       = 32   // LANES: work-items of a segment
	DecodedTag  = 4    // ELEMENTS_DECODED: a buffer number
	BitsTag     = 5    // ELEMENTS_BITS: the same
	DecodeRound = 256  // decoders may write up to the next multiple of it, in words
)

// Features of the programs that read lists.
const (
	UseLines    device.Features = 1 << iota // search in lists of lrc, lrcseg, seglrc, hslrc
	UseIS                                   // interpolation search
	UseLRSeg                                // local safe ranges
	UsePMF                                  // parallel merge find
	UsePart                                 // a query to a work-group
	UseParaPFor                             // search in lists of a gap codec
	UseVByte
	UseRice
	UsePFD
	UseNewPFD
	UseRPFD
	UseLRCPFor // search in lists of lrcpfor
	UseLRSplit // lines of segments
	UseGaps    = UseParaPFor | UseVByte | UseRice | UsePFD | UseNewPFD | UseRPFD
)

// FeatureNames lists the macros of the features above.
var FeatureNames = []string{"USE_LINES", "USE_IS", "USE_LRSEG", "USE_PMF", "USE_PART",
	"USE_PARAPFOR", "USE_VBYTE", "USE_RICE", "USE_PFD", "USE_NEWPFD", "USE_RPFD", "USE_LRCPFOR", "USE_LRSPLIT"}

// SegmentFiles lists the files that decode segments of gap codecs.
var SegmentFiles = []string{"gaps.cl", "segments.cl", "segments_rpfd.cl", "segments_serial.cl", "segments_any.cl"}

// DecodeArguments are the arguments of the decoders, and of the kernel that copies raw lists.
type DecodeArguments struct {
	A      [MaxArenas]*ocl.MemObject // lists
	Runs   *ocl.MemObject            // records of runs
	RunsAt int                       // the first record, in uint4
	Out    *ocl.MemObject            // docIDs
}

// Decoders lists the kernels that turn compressed lists into docIDs. A round launches the
// ones that its lists need.
var Decoders = [...]device.Kernel[DecodeArguments]{decoder("decode"), decoder("decode_lines"), decoder("decode_lrcpfor"),
	decoder("decode_vbyte"), decoder("decode_rice"), decoder("decode_pfd"), decoder("decode_newpfd"), decoder("decode_rpfd")}

func decoder(name string) device.Kernel[DecodeArguments] {
	return device.NewKernel[DecodeArguments](name)
}

const (
	NoDecoder = -1 // for lists that kernels read as they are
	firstGap  = 3  // the first decoder of gap codecs, whose work-group takes a few segments
)

// kind is the way in which kernels read the codecs of a device kind.
type kind struct {
	known   bool            // there are kernels
	decoder int             // index of Decoders, or NoDecoder
	search  device.Features // features of a program that searches in such lists
}

// kinds describes the kernels of each device kind of package codec. Lists of a kind without an
// entry cannot be loaded.
var kinds = [codec.DeviceKinds]kind{
	codec.DevicePlain:    {true, NoDecoder, 0},
	codec.DeviceBits:     {true, 0, 0},
	codec.DeviceParaPFor: {true, 0, UseParaPFor},
	codec.DeviceLines:    {true, 1, UseLines},
	codec.DeviceLRCPFor:  {true, 2, UseLRCPFor},
	codec.DeviceVByte:    {true, firstGap, UseVByte},
	codec.DeviceRice:     {true, 4, UseRice},
	codec.DevicePFD:      {true, 5, UsePFD},
	codec.DeviceNewPFD:   {true, 6, UseNewPFD},
	codec.DeviceRPFD:     {true, 7, UseRPFD},
}

// DecoderOf returns the decoder of a codec, an index of Decoders, or NoDecoder.
func DecoderOf(id codec.ID) int { return kinds[id.Device()].decoder }

// Lookup returns the features of a program that searches in lists of a codec.
func Lookup(id codec.ID) device.Features { return kinds[id.Device()].search }

// Supported returns plan.ErrUnsupported if a list of src has a codec without kernels.
func Supported(src *plan.Source) error {
	for h, l := range src.Lists {
		if !kinds[l.Codec.Device()].known {
			return fmt.Errorf("cl: list %d: codec %v has no kernels: %w", h, l.Codec, plan.ErrUnsupported)
		}
	}
	return nil
}

// DecodeLocal is the work-group size of the kernel decode.
func DecodeLocal(t device.Tuning) int { return t.Local(RunLen / 16) }

// LaunchDecoders enqueues the decoders of a round over the runs of each: their numbers, and the first of
// each in uint4. It runs in Runtime.Do.
func LaunchDecoders(x *device.Flight, args DecodeArguments, runs, runsAt *[len(Decoders)]int) error {
	for d, n := range runs {
		if n == 0 {
			continue
		}
		args.RunsAt = runsAt[d]
		groups, local := decodeShape(x.Device.Tuning, d, n)
		if err := Decoders[d].Launch(x, args, groups, local, device.DecodeTime); err != nil {
			return err
		}
	}
	return nil
}

// decodeShape is the launch of a decoder over a number of runs: work-groups, and the size
// of each. Gap codecs take DECODE_WG/LANES groups of LANES a run.
func decodeShape(t device.Tuning, decoder, runs int) (groups, local int) {
	local = DecodeLocal(t)
	if decoder < firstGap || t.Serial {
		return runs, local
	}
	return local / Lanes * runs, Lanes
}

// writeGaps makes decoders write gaps in place of docIDs.
const writeGaps device.Features = 1

// Operation registers the decoders.
var Operation = device.Operation{
	Name:     "decode",
	Features: []string{"DECODE_GAPS"},
	Programs: []device.Program{
		{Kernels: []device.Function{Decoders[0]}, Files: device.Files("decode.cl"), Core: true},
		{Kernels: []device.Function{Decoders[1]}, Files: device.Files("lines.cl", "decode_lines.cl")},
		{Kernels: []device.Function{Decoders[2]}, Files: device.Files("lines.cl", "lrcpfor.cl", "decode_lrcpfor.cl")},
		{Kernels: []device.Function{Decoders[3]}, Files: decodeGaps},
		{Kernels: []device.Function{Decoders[4]}, Files: decodeGaps},
		{Kernels: []device.Function{Decoders[5]}, Files: decodeGaps},
		{Kernels: []device.Function{Decoders[6]}, Files: decodeGaps},
		{Kernels: []device.Function{Decoders[7]}, Files: decodeGaps},
	},
	Limits: func(t device.Tuning) (local, group int) { return 4 * (RunLen + codec.LineSegment), DecodeLocal(t) },
}

func decodeGaps(device.Features) []string {
	return append(SegmentFiles[:len(SegmentFiles):len(SegmentFiles)], "decode_gaps.cl")
}

// Between returns the indexes of a part of a list with all docIDs from first to
// last. The part begins where a run may begin.
func Between(list codec.List, first, last uint32) (begin, end uint32, err error) {
	if list.Len == 0 {
		return 0, 0, nil
	}
	var b codec.Blocks
	if err := b.Open(list); err != nil {
		return 0, 0, err
	}
	k := b.Find(first)
	if k == b.Count() {
		return 0, 0, nil
	}
	begin, end = uint32(b.Start(k))/RunLen*RunLen, list.Len
	if k = b.Find(last); k < b.Count() {
		end = uint32(b.Start(k + 1))
	}
	return begin, max(begin, end), nil
}
