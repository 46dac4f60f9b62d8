package container

import "errors"

// Extend returns the words of section s with its padding, which ends at a page, and zeros for
// further words behind them, which the caller may change. before is the number of words before
// these. Where the system can, the section stays mapped and is not read; elsewhere its words are
// copied. As with Bytes, the words are valid until Close, and Check verifies the words of the section. It
// must not run at the same time as other methods.
func (f *File) Extend(s int, further uint64) (words []uint32, before uint64, err error) {
	e := f.Header.Table[s]
	if further == 0 {
		words = View[uint32](f.Bytes(s))
		return words, uint64(len(words)), nil
	}
	before = (e.End() - e.Offset) / 4
	var release func() error
	if f.remap != nil && before > 0 {
		if words, release, err = f.remap(e, further); err != nil {
			return nil, 0, err
		}
	}
	if words == nil {
		words = make([]uint32, before+further)
		copy(words, View[uint32](f.data[e.Offset:e.End()]))
		return words, before, nil
	}
	f.blocks[s].again = LittleBytes(words[:before]) // so that pages are not counted twice
	earlier := f.release
	f.release = func() error { return errors.Join(release(), earlier()) }
	return words, before, nil
}
