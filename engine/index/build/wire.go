package build

import "encoding/binary"

// wire reads the fields of a protobuf message that lies in memory.
type wire struct {
	rest []byte
}

// The wire types of protobuf.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// field is one field of a message: a number (varint or fixed) or bytes.
type field struct {
	number uint64
	kind   uint8
	value  uint64
	bytes  []byte // a view
}

func (w *wire) uvarint() (uint64, bool) {
	v, n := binary.Uvarint(w.rest)
	if n <= 0 {
		return 0, false
	}
	w.rest = w.rest[n:]
	return v, true
}

// next reads the next field; false if there is none or the message is malformed
// (then rest is not empty).
func (w *wire) next(f *field) bool {
	key, n := binary.Uvarint(w.rest)
	if n <= 0 {
		return false
	}
	f.number, f.kind, f.bytes = key>>3, uint8(key&7), nil
	b := w.rest[n:]
	switch f.kind {
	case wireVarint:
		if f.value, n = binary.Uvarint(b); n <= 0 {
			return false
		}
	case wireFixed64:
		if n = 8; len(b) < n {
			return false
		}
		f.value = binary.LittleEndian.Uint64(b)
	case wireFixed32:
		if n = 4; len(b) < n {
			return false
		}
		f.value = uint64(binary.LittleEndian.Uint32(b))
	case wireBytes:
		size, k := binary.Uvarint(b)
		if k <= 0 || size > uint64(len(b)-k) {
			return false
		}
		n = k + int(size)
		f.bytes = b[k:n]
	default:
		return false
	}
	w.rest = b[n:]
	return f.number > 0
}
