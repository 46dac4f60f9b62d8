package codec

// ID identifies a codec. The values are stored in files and are never reused.
type ID uint8

// The codecs; the table below describes each.
const (
	Raw      ID = 1
	ParaPFor ID = 2
	Bitset   ID = 3
	VByte    ID = 4
	Rice     ID = 5
	PFD      ID = 6
	NewPFD   ID = 7
	RPFD     ID = 8
	LRC      ID = 9
	LRCSeg   ID = 10
	SegLRC   ID = 11
	HSLRC128 ID = 12
	HSLRC256 ID = 13
	LRCPFor  ID = 14
)

// table describes all codecs, indexed by ID. Entry 0 stands for unknown codecs.
var table = [...]Descriptor{
	Raw: {
		Name: "raw", Stores: "docIDs as they are, one word each",
		Layout: PlainLayout, Device: DevicePlain, Auto: true,
		decodeTime: 390, probeTime: 12_500,
		encode: func(dst, docs []uint32, _ Options) []uint32 { return append(dst, docs...) },
		size:   func(docs []uint32, _ Options) int { return len(docs) },
	},
	ParaPFor: {
		Name: "parapfor", Stores: "gaps in segments of 128 with a width each; exceptions by index",
		Source: "Ao et al. 2011, section 5.1 and appendix D",
		Layout: GapLayout, Device: DeviceParaPFor, Auto: true, UsesRatio: true,
		decodeTime: 880, probeTime: 77_000,
		encode: appendParaPFor, size: sizeParaPFor,
	},
	Bitset: {
		Name: "bitset", Stores: "one bit a document, with a rank directory",
		Source: "Lucene, Roaring",
		Layout: BitLayout, Device: DeviceBits, Auto: true,
		// Measured with one document in 8; sparser lists decode more slowly.
		decodeTime: 1000, probeTime: 1500,
		encode: plainly(appendBitset), size: sized(sizeBitset),
	},
	VByte: {
		Name: "vbyte", Stores: "gaps in bytes of seven bits",
		Source: "baseline",
		Layout: GapLayout, Device: DeviceVByte,
		decodeTime: 2300, probeTime: 160_000,
		encode: plainly(appendVByte), size: sized(sizeVByte),
	},
	Rice: {
		Name: "rice", Stores: "gaps in a binary and a unary bit vector",
		Source: "Ding et al. 2009, section 6.1",
		Layout: GapLayout, Device: DeviceRice, Auto: true,
		decodeTime: 1650, probeTime: 120_000,
		encode: plainly(appendRice), size: sized(sizeRice), least: leastRice,
	},
	PFD: {
		Name: "pfd", Stores: "gaps; exceptions linked through their slots",
		Source: "Zukowski et al. 2006; Ao et al. 2011, section 5.1",
		Layout: GapLayout, Device: DevicePFD,
		decodeTime: 750, probeTime: 59_000,
		encode: appendPFD, size: sizePFD,
	},
	NewPFD: {
		Name: "newpfd", Stores: "gaps; positions and overflows of exceptions in Simple16",
		Source: "Yan et al. 2009; Ao et al. 2011, section 5.1",
		Layout: GapLayout, Device: DeviceNewPFD,
		decodeTime: 1230, probeTime: 93_000,
		encode: appendNewPFD, size: sizeNewPFD,
	},
	RPFD: {
		Name: "rpfd", Stores: "gaps in one width; offsets and overflows of exceptions packed again in the same way",
		Source: "Ding et al. 2009, section 6.2",
		Layout: GapLayout, Device: DeviceRPFD, Auto: true, UsesLevels: true,
		decodeTime: 1850, probeTime: 130_000,
		encode: appendRPFD, size: sizeRPFD, least: leastRPFD,
	},
	LRC: {
		Name: "lrc", Stores: "distances from one line",
		Source: "Ao et al. 2011, section 5.2",
		Layout: LineLayout, Device: DeviceLines, Auto: true,
		decodeTime: 750, probeTime: 49_000,
		encode: plainly(appendLRC), size: sized(sizeLRC), least: leastLRC,
	},
	LRCSeg: {
		Name: "lrcseg", Stores: "distances from one line, in segments of 256 with a width each",
		Source: "Ao et al. 2011, section 5.2",
		Layout: LineLayout, Device: DeviceLines, Auto: true,
		decodeTime: 750, probeTime: 44_000,
		encode: plainly(appendLRCSeg), size: sized(sizeLRCSeg), least: leastSegments(globalHeader),
	},
	SegLRC: {
		Name: "seglrc", Stores: "distances from a line a segment of 256",
		Source: "Ao et al. 2011, section 5.2",
		Layout: LineLayout, Device: DeviceLines, Auto: true,
		decodeTime: 750, probeTime: 42_000,
		encode: plainly(appendSegLRC), size: sized(sizeSegLRC), least: leastSegments(0),
	},
	HSLRC128: {
		Name: "hslrc128", Stores: "distances from a line a hash bucket of about 128 docIDs",
		Source: "Ao et al. 2011, section 5.3",
		Layout: LineLayout, Device: DeviceLines, Auto: true, Hashed: true,
		decodeTime: 1000, probeTime: 39_000,
		encode: hashed(128), size: sizeHashed(128), least: leastHashed(128),
	},
	HSLRC256: {
		Name: "hslrc256", Alias: "hslrc", Stores: "distances from a line a hash bucket of about 256 docIDs",
		Source: "Ao et al. 2011, section 5.3",
		Layout: LineLayout, Device: DeviceLines, Auto: true, Hashed: true,
		decodeTime: 810, probeTime: 40_000,
		encode: hashed(256), size: sizeHashed(256), least: leastHashed(256),
	},
	LRCPFor: {
		Name: "lrcpfor", Stores: "distances from one line, in segments of 256 with a width each; exceptions by index",
		Source: "Ao et al. 2011, section 5.2 and appendix D",
		Layout: LineLayout, Device: DeviceLRCPFor, UsesRatio: true,
		decodeTime: 750, probeTime: 49_000,
		encode: appendLRCPFor, size: sizeLRCPFor,
	},
}

// plainly makes an entry of the table from an encoder without options.
func plainly(encode func(dst, docs []uint32) []uint32) func(dst, docs []uint32, _ Options) []uint32 {
	return func(dst, docs []uint32, _ Options) []uint32 { return encode(dst, docs) }
}

// sized makes an entry of the table from a size function without options.
func sized(size func(docs []uint32) int) func(docs []uint32, _ Options) int {
	return func(docs []uint32, _ Options) int { return size(docs) }
}
