package hdl

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"heddle/engine/file/container"
	"heddle/engine/file/mapped"
)

// textBlock is the number of bytes of text that are compressed together. The texts of all
// documents, joined without gaps, are cut into blocks of this size, the last one shorter.
// Reading a text inflates the block or blocks that contain it. A block of English takes
// 0.1 ms; blocks of twice the size would save 4 % of the room.
const textBlock = 16 << 10

// blocksOf is the number of blocks of n bytes of text.
func blocksOf(n uint64) uint64 { return n/textBlock + min(n%textBlock, 1) }

// ErrNoText is the cause of the error for a text from a file without texts.
var ErrNoText = errors.New("the index stores no texts")

// HasText reports whether the file stores the texts of its documents.
func (f *File) HasText() bool { return f.textOffsets != nil }

// Text returns the text of document d, which must be below Docs, as it was
// stored: any bytes. It inflates the blocks of 16 KiB that the text lies in, up to
// its end, so it is for the documents of an answer, not for all of them. An error
// is ErrNoText or a *CorruptError.
func (f *File) Text(d uint32) (text string, err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	if !f.HasText() {
		return "", fmt.Errorf("%s: %w", f.file.Path, ErrNoText)
	}
	at, end := f.span(secTextOffsets, f.textOffsets, uint64(d), f.textSize())
	block := textBuffers.Get().(*[textBlock]byte)
	defer textBuffers.Put(block)
	var all []byte // grows with the content: offsets may be wrong
	for at < end {
		b := at / textBlock
		from, to := at-b*textBlock, min(end-b*textBlock, textBlock)
		if err := f.inflate(b, block[:to]); err != nil {
			return "", err
		}
		all = append(all, block[from:to]...)
		at = b*textBlock + to
	}
	return string(all), nil
}

// EachText calls f with the texts of documents first to end-1, in order, and inflates each block
// once. The text is valid until f returns. An error is the error of f, ErrNoText or a
// *CorruptError.
func (f *File) EachText(first, end uint32, each func(text []byte) error) (err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	if !f.HasText() {
		return fmt.Errorf("%s: %w", f.file.Path, ErrNoText)
	}
	block := textBuffers.Get().(*[textBlock]byte)
	defer textBuffers.Put(block)
	held := uint64(math.MaxUint64) // the block that was inflated
	var text []byte
	for d := first; d < end; d++ {
		text = text[:0]
		for at, to := f.textOffsets[d], f.textOffsets[d+1]; at < to; {
			b := at / textBlock
			size := f.textBlockSize(b)
			if b != held {
				if err := f.inflate(b, block[:size]); err != nil {
					return err
				}
				held = b
			}
			part := block[at-b*textBlock : min(to-b*textBlock, size)]
			text = append(text, part...)
			at += uint64(len(part))
		}
		if err := each(text); err != nil {
			return err
		}
	}
	return nil
}

var (
	textBuffers = sync.Pool{New: func() any { return new([textBlock]byte) }}
	inflaters   = sync.Pool{New: func() any { return flate.NewReader(nil) }}
)

// inflate fills dst with the first bytes of text block b. When that is the whole
// block, nothing may follow.
func (f *File) inflate(b uint64, dst []byte) error {
	if b+1 >= uint64(len(f.textBlocks)) {
		return f.corrupt(secTextBlocks, 0, "no block %d", b)
	}
	from, to := f.span(secTextBlocks, f.textBlocks, b, uint64(len(f.bytes(secTexts))))
	f.use(secTexts, from, to)
	packed := f.bytes(secTexts)[from:to]
	size := f.textBlockSize(b)
	if uint64(len(packed)) == size {
		copy(dst, packed)
		return nil
	}
	r := inflaters.Get().(io.ReadCloser)
	defer inflaters.Put(r)
	in := bytes.NewReader(packed)
	err := r.(flate.Resetter).Reset(in, nil)
	if err == nil {
		_, err = io.ReadFull(r, dst)
	}
	if err == nil && uint64(len(dst)) == size {
		var more [1]byte
		if n, end := r.Read(more[:]); n > 0 || end != io.EOF || in.Len() > 0 {
			err = errors.New("it goes on behind its end")
		}
	}
	if err != nil {
		return f.corrupt(secTexts, from, "block %d: %v", b, err)
	}
	return nil
}

// textBlockSize is the number of bytes of text in block b.
func (f *File) textBlockSize(b uint64) uint64 {
	return min(f.textSize()-b*textBlock, textBlock)
}

// textSize is the number of bytes of all texts.
func (f *File) textSize() uint64 {
	f.use(secTextOffsets, 8*uint64(f.header.docs), 8*uint64(f.header.docs)+8)
	return f.textOffsets[f.header.docs]
}

// checkTexts checks that the offsets of texts and of blocks stay in bounds.
func (f *File) checkTexts() error {
	if !f.HasText() {
		return nil
	}
	size := f.textOffsets[f.header.docs]
	if n := uint64(len(f.textBlocks) - 1); n != blocksOf(size) {
		return f.corrupt(secTextBlocks, 0, "%d blocks for %d bytes of text", n, size)
	}
	if err := f.file.CheckOffsets(int(secTextBlocks), f.textBlocks, f.header.Table[secTexts].Length, textBlock); err != nil {
		return err
	}
	return f.file.CheckOffsets(int(secTextOffsets), f.textOffsets, size, size)
}

// verifyTexts inflates every block.
func (f *File) verifyTexts(ctx context.Context) error {
	return container.Parallel(max(len(f.textBlocks)-1, 0), func(i int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		block := textBuffers.Get().(*[textBlock]byte)
		defer textBuffers.Put(block)
		return f.inflate(uint64(i), block[:f.textBlockSize(uint64(i))])
	})
}
