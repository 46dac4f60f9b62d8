package codec

import "slices"

// Descriptor describes one codec. The values are constant.
type Descriptor struct {
	Name   string // name on the command line and in the configuration, in lower case
	Alias  string // second name, "" for none
	Stores string // contents of a list, in one line
	Source string // paper and section, "" for none

	Layout Layout
	Device DeviceKind

	// Auto includes the codec in the choice of Auto. It is false if one work-item of a
	// device must read a segment value after value: the bytes of VByte, the chain of
	// exceptions of PFD, the Simple16 words of NewPFD. It is false for LRCPFor too, the LRC of
	// the paper: LRCSeg has a base in each segment besides a width.
	Auto bool
	// Hashed tells whether blocks are hash buckets of docIDs.
	Hashed bool
	// UsesRatio and UsesLevels tell which of Options.ExceptionRatio and
	// Options.RPFDLevels the encoder reads.
	UsesRatio, UsesLevels bool

	// Picoseconds of one core: to decode a docID as part of its list, and to look
	// one up. They are rounded from the least times of BenchmarkSpeeds, gaps of 8
	// to 1000, on a core of an AMD EPYC at 2.6 GHz.
	decodeTime, probeTime int64

	encode func(dst, docs []uint32, opt Options) []uint32 // appends to dst
	size   func(docs []uint32, opt Options) int           // words that encode appends
	least  lowerBound                                     // returns a lower bound of size, in less time; nil: 0
}

// A lowerBound returns a number of words; encoding docs takes at least as many. It takes less time than the
// size function. docs is not empty, and large[b] of their gaps have more than b bits.
type lowerBound func(docs []uint32, large [33]int, opt Options) int

// Layout is the shape of encoded lists. Codecs of one layout have their tables
// and their way to a docID in common.
type Layout uint8

const (
	UnknownLayout Layout = iota // the layout of an unknown codec
	PlainLayout                 // one docID a word
	BitLayout                   // one bit a docID: see Bits
	GapLayout                   // differences of docIDs in segments, after the last docID of each segment
	LineLayout                  // distances of docIDs from lines: see Lines
)

// DeviceKind names the device decoder of a codec: the kernels that turn its words
// into docIDs and look docIDs up. Codecs of one kind share these kernels.
type DeviceKind uint8

const (
	// DeviceNone marks a codec without kernels. OpenCL backends refuse its lists
	// with plan.ErrUnsupported; the pure-Go backend reads them.
	DeviceNone     DeviceKind = iota
	DevicePlain               // reads docIDs in place
	DeviceBits                // reads bits in place
	DeviceParaPFor            // one work-item a value
	DeviceVByte               // this kind and all below up to DeviceRPFD: one work-group a few segments
	DeviceRice
	DevicePFD
	DeviceNewPFD
	DeviceRPFD
	DeviceLines   // arithmetic on an index; the codecs of LineLayout without exceptions
	DeviceLRCPFor // the same, and exceptions
	// DeviceKinds is the number of kinds, for tables indexed by kind.
	DeviceKinds
)

// row returns the descriptor of a codec. An unknown codec has the descriptor of number 0.
func (id ID) row() *Descriptor {
	if int(id) < len(table) {
		return &table[id]
	}
	return &table[0]
}

// Describe returns the descriptor of a codec, the zero Descriptor for an unknown
// one.
func (id ID) Describe() Descriptor { return *id.row() }

// Layout returns the layout of a codec's lists.
func (id ID) Layout() Layout { return id.row().Layout }

// Device returns the device decoder of a codec, DeviceNone for an unknown one.
func (id ID) Device() DeviceKind { return id.row().Device }

// IDs returns all codecs in the order of their values. The caller owns the slice.
func IDs() []ID { return slices.Clone(ids) }

var ids = func() (all []ID) {
	for id := range table {
		if table[id].Name != "" {
			all = append(all, ID(id))
		}
	}
	return all
}()
