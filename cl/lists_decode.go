package cl

import (
	"fmt"

	"heddle/codec"
	"heddle/engine/plan"
)

// Constants of kernels/common.cl and of the layout of uploads.
const (
	runLen      = 1024 // RUN: elements of a run at most
	runWords    = 8    // words of a run record
	recordWords = 8    // words of a term record
	blockTiles  = 64   // BLOCK: tiles of one sum
	lanes       = 32   // LANES: work-items of a segment
	decodedTag  = 4    // ELEMENTS_DECODED: a buffer number
	decodeRound = 256  // decoders may write up to the next multiple of it, in words
)

// Features of the programs that read lists.
const (
	useLines    features = 1 << iota // search in lists of lrc, lrcseg, seglrc, hslrc
	useIS                            // interpolation search
	useLRSeg                         // local safe ranges
	usePMF                           // parallel merge find
	usePart                          // a query to a work-group
	useParaPFor                      // search in lists of a gap codec
	useVByte
	useRice
	usePFD
	useNewPFD
	useRPFD
	useGaps = useParaPFor | useVByte | useRice | usePFD | useNewPFD | useRPFD
)

// featureNames lists the macros of the features above.
var featureNames = []string{"USE_LINES", "USE_IS", "USE_LRSEG", "USE_PMF", "USE_PART",
	"USE_PARAPFOR", "USE_VBYTE", "USE_RICE", "USE_PFD", "USE_NEWPFD", "USE_RPFD"}

// segmentFiles lists the files that decode segments of gap codecs.
var segmentFiles = []string{"gaps.cl", "segments.cl", "segments_rpfd.cl", "segments_serial.cl", "segments_any.cl"}

// decoders lists the kernels that turn compressed lists into docIDs. A round launches the
// ones that its lists need.
var decoders = [...]kernelID{{name: "decode"}, {name: "decode_lines"}, {name: "decode_vbyte"}, {name: "decode_rice"},
	{name: "decode_pfd"}, {name: "decode_newpfd"}, {name: "decode_rpfd"}}

// noDecoder stands for lists that kernels read as they are.
const noDecoder = -1

// kind is the way in which kernels read a codec.
type kind struct {
	known   bool     // there are kernels
	decoder int      // of decoders, or noDecoder
	search  features // of a program that searches in such lists
}

// kinds describes the kernels of each codec. A codec without an entry cannot be loaded.
var kinds = [256]kind{
	codec.Raw:      {true, noDecoder, 0},
	codec.Bitset:   {true, 0, 0},
	codec.ParaPFor: {true, 0, useParaPFor},
	codec.LRC:      {true, 1, useLines},
	codec.LRCSeg:   {true, 1, useLines},
	codec.SegLRC:   {true, 1, useLines},
	codec.HSLRC128: {true, 1, useLines},
	codec.HSLRC256: {true, 1, useLines},
	codec.VByte:    {true, 2, useVByte},
	codec.Rice:     {true, 3, useRice},
	codec.PFD:      {true, 4, usePFD},
	codec.NewPFD:   {true, 5, useNewPFD},
	codec.RPFD:     {true, 6, useRPFD},
}

// decoderOf returns the decoder of a codec, an index of decoders, or noDecoder.
func decoderOf(id codec.ID) int { return kinds[id].decoder }

// lookup returns the features of a program that searches in lists of a codec.
func lookup(id codec.ID) features { return kinds[id].search }

// supported returns plan.ErrUnsupported if a list of src has a codec without kernels.
func supported(src *plan.Source) error {
	for h, l := range src.Lists {
		if !kinds[l.Codec].known {
			return fmt.Errorf("cl: list %d: codec %v has no kernels: %w", h, l.Codec, plan.ErrUnsupported)
		}
	}
	return nil
}

// decodeLocal is the work-group size of the kernel decode.
func decodeLocal(t Tuning) int {
	if t.Serial {
		return 1
	}
	return runLen / 16 // DECODE_WG
}

// decodeShape is the launch of a decoder over a number of runs: work-groups, and the size
// of each. Gap codecs take DECODE_WG/LANES groups of LANES a run.
func decodeShape(t Tuning, decoder, runs int) (groups, local int) {
	local = decodeLocal(t)
	if decoder < 2 || t.Serial {
		return runs, local
	}
	return local / lanes * runs, lanes
}

// listsOperation registers the decoders.
var listsOperation = operation{
	Name: "decode",
	Programs: []program{
		{Kernels: []string{"decode"}, Files: files("decode.cl"), Core: true},
		{Kernels: []string{"decode_lines"}, Files: files("lines.cl", "decode_lines.cl")},
		{Kernels: []string{"decode_vbyte"}, Files: decodeGaps},
		{Kernels: []string{"decode_rice"}, Files: decodeGaps},
		{Kernels: []string{"decode_pfd"}, Files: decodeGaps},
		{Kernels: []string{"decode_newpfd"}, Files: decodeGaps},
		{Kernels: []string{"decode_rpfd"}, Files: decodeGaps},
	},
	Limits: func(t Tuning) (local, group int) { return 4 * (8*decodeLocal(t) + 1), decodeLocal(t) },
}

func decodeGaps(features) []string {
	return append(segmentFiles[:len(segmentFiles):len(segmentFiles)], "decode_gaps.cl")
}

// elementsBetween returns the indexes of a part of a list with all docIDs from first to
// last. The part begins where a run may begin.
func elementsBetween(list codec.List, first, last uint32) (begin, end uint32, err error) {
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
	begin, end = uint32(b.Start(k))/runLen*runLen, list.Len
	if k = b.Find(last); k < b.Count() {
		end = uint32(b.Start(k + 1))
	}
	return begin, max(begin, end), nil
}
