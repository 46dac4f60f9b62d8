package container

import (
	"hash/crc32"
	"slices"
	"sync/atomic"
)

// BlockSize is the number of bytes that have a checksum of their own. The last block of a
// section, with its padding, is shorter.
const BlockSize = 64 << 10

// blockCount is the number of blocks of a section.
func blockCount(e Extent) int { return int((e.End() - e.Offset + BlockSize - 1) / BlockSize) }

// blockSums computes the checksums of the blocks of a spool.
type blockSums struct {
	sums []uint32 // checksums of the full blocks
	crc  uint32   // checksum of the bytes behind the full blocks
	n    int      // number of these bytes, below BlockSize
}

// add continues with the next bytes.
func (b *blockSums) add(p []byte) {
	for len(p) > 0 {
		n := min(len(p), BlockSize-b.n)
		b.crc = crc32.Update(b.crc, castagnoli, p[:n])
		if b.n += n; b.n == BlockSize {
			b.sums, b.crc, b.n = append(b.sums, b.crc), 0, 0
		}
		p = p[n:]
	}
}

// all returns the checksums of all blocks so far.
func (b *blockSums) all() []uint32 {
	if b.n == 0 {
		return slices.Clone(b.sums)
	}
	return append(slices.Clone(b.sums), b.crc)
}

// blocks is the state of the blocks of one section.
type blocks struct {
	sums   []uint32
	intact []atomic.Uint32 // bits: the block has its checksum
	again  []byte          // the section where Extend has mapped it, which readers use; nil: in the file
}

// openBlocks checks the section of checksums of blocks, and that it has one for every block of
// the other sections.
func (f *File) openBlocks() error {
	own := f.format.Sums
	if err := f.checkSection(own); err != nil {
		return err
	}
	sums, n := View[uint32](f.Bytes(own)), 0
	for s, e := range f.Header.Table {
		if s != own {
			n += blockCount(e)
		}
	}
	if uint64(n)*4 != f.Header.Table[own].Length {
		return f.CorruptEntry(own, "has %d bytes for the checksums of %d blocks", f.Header.Table[own].Length, n)
	}
	f.blocks = make([]blocks, len(f.Header.Table))
	for s, e := range f.Header.Table {
		if s != own {
			n := blockCount(e)
			f.blocks[s] = blocks{sums: sums[:n], intact: make([]atomic.Uint32, (n+31)/32)}
			sums = sums[n:]
		}
	}
	return nil
}

// Check compares the checksums of the blocks that hold the bytes from to to-1 of section s,
// each block once in the life of f.
func (f *File) Check(s int, from, to uint64) error {
	if from >= to {
		return nil
	}
	for i := from / BlockSize; i <= (to-1)/BlockSize; i++ {
		if f.blocks[s].intact[i/32].Load()>>(i%32)&1 == 0 {
			if err := f.checkBlock(s, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// CheckSection is Check for the whole section and its padding, on all cores.
func (f *File) CheckSection(s int) error {
	return Parallel(len(f.blocks[s].sums), func(i int) error {
		return f.Check(s, uint64(i)*BlockSize, uint64(i)*BlockSize+1)
	})
}

func (f *File) checkBlock(s int, i uint64) error {
	e := f.Header.Table[s]
	from := e.Offset + i*BlockSize
	content := f.data[from:min(from+BlockSize, e.End())]
	if again := f.blocks[s].again; again != nil {
		content = again[i*BlockSize:][:len(content)]
	}
	want, got := f.blocks[s].sums[i], crc32.Checksum(content, castagnoli)
	if got != want {
		return f.Corrupt(s, i*BlockSize, "checksum %08x of block %d, the content has %08x", want, i, got)
	}
	f.blocks[s].intact[i/32].Or(1 << (i % 32))
	return nil
}
