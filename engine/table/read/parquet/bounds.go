package parquet

import (
	"encoding/binary"
	"slices"
)

// mostValues is the number of values of a page, missing ones included, that are read at most. A run of a few bytes
// has as many as its header says. Known writers have at most so many rows in a row group.
const mostValues = 1 << 26

// firstRuns cuts runs of numbers of some bits behind the first n numbers. The library would unpack all of them.
func firstRuns(data []byte, bits, n int) []byte {
	for at := 0; n > 0; {
		head, size := binary.Uvarint(data[min(at, len(data)):])
		if size <= 0 {
			return data // the library reports it
		}
		packed, most, each, bytes := head&1, n, 1, (bits+7)/8 // equal numbers
		if packed == 1 {                                      // groups of 8 numbers
			most, each, bytes = (n+7)/8, 8, bits*int(min(head>>1, uint64(n+7)/8))
		}
		end := at + size + bytes
		if head>>1 == 0 {
			end = at + size // the library reads no number behind it
		}
		if head>>1 >= uint64(most) {
			last := binary.AppendUvarint(nil, uint64(most)<<1|packed)
			return slices.Concat(data[:at], last, data[at+size:min(end, len(data))])
		}
		at, n = end, n-int(head>>1)*each
	}
	return nil
}

// firstBooleans is firstRuns for a page of n booleans, which has the length of the runs in front.
func firstBooleans(data []byte, n int) []byte {
	if len(data) < 4 {
		return data
	}
	runs := firstRuns(data[4:4+min(uint64(len(data)-4), uint64(binary.LittleEndian.Uint32(data)))], 1, n)
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(runs))), runs...)
}
