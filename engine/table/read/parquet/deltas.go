package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
)

// mostBytes is the number of bytes of the texts of a page that are read at most. A text of a few bytes is as long as
// the text before it, if it begins with that text.
const mostBytes = 1 << 28

var errDeltas = errors.New("damaged differences")

// endOfDeltas is the end of the differences at the front of data, which are of at most n numbers.
func endOfDeltas(data []byte, n int) (end int, err error) {
	var head [3]uint64 // numbers in a block, parts of a block, all numbers
	for i := range head {
		v, size := binary.Uvarint(data[end:])
		if size <= 0 || i < 2 && v > 1<<16 {
			return 0, errDeltas
		}
		head[i] = v
		end += size
	}
	if head[2] > uint64(n) {
		return 0, fmt.Errorf("differences of %d values in a page of %d", head[2], n)
	}
	if head[1] == 0 || head[0] < head[1] {
		return 0, errDeltas
	}
	_, size := binary.Varint(data[end:]) // the first number
	end += max(size, 0)
	parts, each := int(head[1]), int(head[0]/head[1])
	for left := int(head[2]) - 1; left > 0; {
		_, size := binary.Varint(data[end:]) // the least difference of the block
		if size <= 0 || len(data)-end-size < parts {
			return 0, errDeltas
		}
		end += size
		widths := data[end : end+parts]
		end += parts
		for i := 0; i < parts && left > 0; i++ {
			if widths[i] > 64 {
				return 0, errDeltas
			}
			end, left = min(end+each*int(widths[i])/8, len(data)), left-each
		}
	}
	return end, nil
}

// lengths reads the lengths at the front of data, of at most n texts.
func lengths(data []byte, n int) (all []int64, rest []byte, err error) {
	end, err := endOfDeltas(data, n)
	if err != nil {
		return nil, nil, err
	}
	if all, err = parquet.DeltaBinaryPacked.DecodeInt64(nil, data[:end]); err != nil {
		return nil, nil, errDeltas
	}
	return all, data[end:], nil
}

// deltaLengths reads at most n texts whose lengths are in front of all of them.
func deltaLengths(data []byte, n int) (v encoding.Values, err error) {
	sizes, data, err := lengths(data, n)
	if err != nil {
		return v, err
	}
	ends := make([]uint32, 1, len(sizes)+1)
	end := int64(0)
	for _, size := range sizes {
		if size < 0 || size > int64(len(data))-end {
			return v, fmt.Errorf("a text of %d bytes, where %d are left", size, int64(len(data))-end)
		}
		end += size
		ends = append(ends, uint32(end))
	}
	return encoding.ByteArrayValues(data[:end], ends), nil
}

// deltaTexts reads at most n texts, each of which begins with the front of the text before it: the lengths of these
// fronts, the lengths of the rests, and the rests. It gives the bytes of all texts, and where each ends.
func deltaTexts(data []byte, n int) (all []byte, ends []uint32, err error) {
	fronts, data, err := lengths(data, n)
	if err != nil {
		return nil, nil, err
	}
	rests, data, err := lengths(data, n)
	if err != nil {
		return nil, nil, err
	}
	if len(fronts) != len(rests) {
		return nil, nil, errDeltas
	}
	var total, before, left int64 = 0, 0, int64(len(data))
	for i, front := range fronts {
		switch rest := rests[i]; {
		case front < 0 || front > before:
			return nil, nil, fmt.Errorf("a text has its first %d bytes of a text of %d", front, before)
		case rest < 0 || rest > left:
			return nil, nil, fmt.Errorf("a text of %d bytes, where %d are left", rest, left)
		case total+front+rest > mostBytes:
			return nil, nil, fmt.Errorf("a page with texts of more than %d bytes", mostBytes)
		default:
			before = front + rest
			total, left = total+before, left-rest
		}
	}
	all, ends = make([]byte, 0, total), make([]uint32, 1, len(fronts)+1)
	last := 0
	for i, front := range fronts {
		begin := len(all)
		all = append(append(all, all[last:last+int(front)]...), data[:rests[i]]...)
		data, last = data[rests[i]:], begin
		ends = append(ends, uint32(len(all)))
	}
	return all, ends, nil
}

// sameLength returns an error unless each text has size bytes.
func sameLength(ends []uint32, size int) error {
	for i, end := range ends {
		if int(end) != i*size {
			return fmt.Errorf("texts of other lengths than %d bytes", size)
		}
	}
	return nil
}
