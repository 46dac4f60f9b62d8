package hdl

import (
	"heddle/engine/file/mapped"
	"heddle/engine/plan"
)

// use verifies bytes of section s before their first use. Damage is a panic with a
// *mapped.Fault, as a page is that cannot be read.
func (f *File) use(s section, from, to uint64) {
	if !f.lazy {
		return
	}
	if err := f.file.Check(int(s), from, to); err != nil {
		panic(&mapped.Fault{Err: err})
	}
}

// span returns entries i and i+1 of offsets, the words of section s, verified and checked
// to ascend up to size. Damage is a panic, as in use.
func (f *File) span(s section, offsets []uint64, i, size uint64) (from, to uint64) {
	f.use(s, 8*i, 8*i+16)
	from, to = offsets[i], offsets[i+1]
	if from > to || to > size {
		panic(&mapped.Fault{Err: f.corrupt(s, 8*i, "offsets %d and %d in %d bytes", from, to, size)})
	}
	return from, to
}

// checkList verifies the words of a list, or its frequencies, of a lazy file.
func (f *File) checkList(h plan.Handle, freqs bool) {
	half := &f.intact[0]
	if freqs {
		half = &f.intact[1]
	}
	bits := &(*half)[h/32]
	if bits.Load()>>(h%32)&1 != 0 {
		return
	}
	switch l := f.source.Lists[h]; {
	case l.Off >= f.stored.words: // made from its descriptor
	case freqs:
		f.use(secFreqs, 4*l.FreqOff, 4*(l.FreqOff+uint64(l.FreqWords)))
	default:
		f.use(secDocIDs, 4*l.Off, 4*(l.Off+uint64(l.Words)))
	}
	bits.Or(1 << (h % 32))
}

// CheckLists makes all lists of LazySource and verifies their bytes, on all cores: it must precede
// a copy of Source.Words or Source.Freqs to a device. Damage is a *CorruptError.
func (f *File) CheckLists() error {
	if err := f.source.DescribeAll(); err != nil || !f.lazy {
		return err
	}
	if err := f.file.CheckSection(int(secDocIDs)); err != nil {
		return err
	}
	return f.file.CheckSection(int(secFreqs))
}
