package hdl

import (
	"bufio"
	"encoding/binary"
	"io"
	"iter"
	"slices"

	"heddle/engine/file/mapped"
	"heddle/engine/index/hdl/compress"
)

// nameBlock is the number of names that are coded together. The first of them is whole.
const nameBlock = 16

// blocksOfNames is the number of blocks for n names.
func blocksOfNames(n uint64) uint64 { return (n + nameBlock - 1) / nameBlock }

// codeSize is the number of bytes before the blocks of names: the lengths of the Huffman codes
// of all bytes, 4 bits each.
const codeSize = 256 / 2

// checkNames checks the offsets of names.
func (f *File) checkNames() error {
	size := uint64(len(f.bytes(secNames))) - codeSize
	return f.file.CheckOffsets(int(secNameOffsets), f.nameOffsets, size, nameBlock*(MaxNameLen+compress.FrontHead)*compress.MaxCode/8)
}

// DocName returns the name of document d, which must be below Docs. For the names of many
// documents, Names is faster. Damage is a *CorruptError.
func (f *File) DocName(d uint32) (_ string, err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	var buffer [1024]byte
	var text [256]byte
	r := compress.FrontReader{Text: text[:0], Rest: f.nameBlock(buffer[:0], d)}
	for i := d / nameBlock * nameBlock; i <= d; i++ {
		r = f.nextName(r, i)
	}
	return string(r.Text), nil
}

// Names yields the documents from first on and their names.
func (f *File) Names(first uint32) iter.Seq2[uint32, string] {
	return func(yield func(uint32, string) bool) {
		for d, name := range f.eachName(first) {
			if !yield(d, string(name)) {
				return
			}
		}
	}
}

// eachName is Names; a name stays valid until the next one.
func (f *File) eachName(first uint32) iter.Seq2[uint32, []byte] {
	return func(yield func(uint32, []byte) bool) {
		defer mapped.Unwatch(mapped.Watch())
		var block []byte
		var r compress.FrontReader
		for d := first; d < f.header.docs; d++ {
			if d == first || d%nameBlock == 0 {
				block = f.nameBlock(block[:0], d)
				r = compress.FrontReader{Text: r.Text[:0], Rest: block}
				for i := d / nameBlock * nameBlock; i < d; i++ {
					r = f.nextName(r, i)
				}
			}
			if r = f.nextName(r, d); !yield(d, r.Text) {
				return
			}
		}
	}
}

// nameBlock appends the front-coded names of the block of document d. Damage is a panic with a
// *mapped.Fault.
func (f *File) nameBlock(dst []byte, d uint32) []byte {
	blocks := f.bytes(secNames)[codeSize:]
	from, to := f.span(secNameOffsets, f.nameOffsets, uint64(d)/nameBlock, uint64(len(blocks)))
	f.use(secNames, codeSize+from, codeSize+to)
	dst, ok := f.nameCode().Decode(dst, blocks[from:to])
	if !ok {
		f.badName(d)
	}
	return dst
}

// nextName reads name d from the names of its block.
func (f *File) nextName(r compress.FrontReader, d uint32) compress.FrontReader {
	r, ok := r.Next()
	if !ok {
		f.badName(d)
	}
	return r
}

func (f *File) badName(d uint32) {
	panic(&mapped.Fault{Err: f.corrupt(secNames, codeSize+f.nameOffsets[d/nameBlock], "the block of name %d does not hold it", d)})
}

// nameCode returns the code of names, from its first use on.
func (f *File) nameCode() *compress.Huffman {
	if h := f.code.Load(); h != nil {
		return h
	}
	f.use(secNames, 0, codeSize)
	var lengths [256]uint8
	for i, b := range f.bytes(secNames)[:codeSize] {
		lengths[2*i], lengths[2*i+1] = b&15, b>>4
	}
	h, ok := compress.NewHuffman(lengths)
	if !ok {
		panic(&mapped.Fault{Err: f.corrupt(secNames, 0, "no code has these lengths")})
	}
	f.code.Store(h)
	return h
}

// addName front-codes the next name. The block waits in a temporary file until the bytes of
// all have been counted.
func (w *Writer) addName(name string) error {
	if w.names%nameBlock == 0 {
		if err := w.endNames(); err != nil {
			return err
		}
	}
	w.block = compress.AppendFront(w.block, w.lastName, name)
	w.lastName = name
	return nil
}

// endNames writes the block of names to the temporary file.
func (w *Writer) endNames() error {
	if len(w.block) == 0 {
		return nil
	}
	for _, b := range w.block {
		w.nameBytes[b]++
	}
	w.bytes = binary.AppendUvarint(w.bytes[:0], uint64(len(w.block)))
	if err := w.plain.Append(append(w.bytes, w.block...)); err != nil {
		return err
	}
	w.block, w.lastName = w.block[:0], ""
	return nil
}

// writeNames writes the section of names, and where its blocks begin.
func (w *Writer) writeNames() error {
	if err := w.endNames(); err != nil {
		return err
	}
	lengths := compress.CodeLengths(w.nameBytes)
	code, ok := compress.NewHuffman(lengths)
	if !ok {
		panic("hdl: no code has the lengths that the Huffman algorithm gave")
	}
	out := w.file.Sections[secNames]
	for i := range codeSize {
		w.block = append(w.block, lengths[2*i]|lengths[2*i+1]<<4)
	}
	if err := out.Append(w.block); err != nil {
		return err
	}
	plain, err := w.plain.Reader()
	if err != nil {
		return err
	}
	r := bufio.NewReaderSize(plain, int(min(w.plain.Length(), 256<<10)))
	for range blocksOfNames(uint64(w.names)) {
		if err := w.file.Sections[secNameOffsets].AppendUint64(out.Length() - codeSize); err != nil {
			return err
		}
		n, err := binary.ReadUvarint(r)
		if err != nil {
			return err
		}
		w.block = slices.Grow(w.block[:0], int(n))[:n]
		if _, err := io.ReadFull(r, w.block); err != nil {
			return err
		}
		w.bytes = code.Append(w.bytes[:0], w.block)
		if err := out.Append(w.bytes); err != nil {
			return err
		}
	}
	return w.file.Sections[secNameOffsets].AppendUint64(out.Length() - codeSize)
}
