package parquet

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// valueReader reads the values of a column of a row group.
type valueReader interface {
	parquet.ValueReader
	io.Closer
}

// openChunk opens the values of a column of a row group.
func openChunk(chunk parquet.ColumnChunk, c *parquet.Column, m *format.ColumnMetaData, file io.ReaderAt) valueReader {
	if !misread(m, file) {
		return parquet.NewColumnChunkValueReader(chunk)
	}
	start := m.DataPageOffset
	if m.DictionaryPageOffset > 0 {
		start = min(start, m.DictionaryPageOffset)
	}
	in := bufio.NewReader(io.NewSectionReader(file, start, m.TotalCompressedSize))
	return &pageReader{typ: c.Type(), defines: levels(c.MaxDefinitionLevel()), repeats: levels(c.MaxRepetitionLevel()), codec: m.Codec, in: in, left: m.NumValues}
}

// misread reports whether parquet-go 0.32 gives wrong values of a chunk without an error: of LZ4_RAW pages that are
// more than a third of their content, and of integers of 32 bits whose differences in DELTA_BINARY_PACKED have
// more bits. It does not read LZ4 of Hadoop, and pages of version 2 without bytes.
func misread(m *format.ColumnMetaData, file io.ReaderAt) bool {
	return m.Codec == format.Lz4Raw || m.Codec == lz4Hadoop || m.Type == format.Int32 && slices.Contains(m.Encoding, format.DeltaBinaryPacked) || hasV2(m, file)
}

// hasV2 reports whether the first page of data of a compressed chunk has version 2.
func hasV2(m *format.ColumnMetaData, file io.ReaderAt) bool {
	if m.Codec == format.Uncompressed {
		return false
	}
	var h format.PageHeader
	in := io.NewSectionReader(file, m.DataPageOffset, m.TotalCompressedSize)
	err := thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(bufio.NewReader(in))).Decode(&h)
	return err == nil && h.DataPageHeaderV2.Valid
}

// pageReader reads the pages of a column.
type pageReader struct {
	typ     parquet.Type
	defines levels // definition levels; the greatest one is of a value, the others are of missing ones
	repeats levels // repetition levels
	codec   format.CompressionCodec
	in      *bufio.Reader
	left    int64 // values of the pages that follow
	dict    parquet.Dictionary

	rows              int                 // entries of the current page, that are left
	defined, repeated []byte              // levels of these entries; empty if the greatest level is 0
	values            parquet.ValueReader // that are defined
}

// levels is the greatest level of the entries of a column.
type levels int

// decode reads the levels of n entries; nil if all are 0.
func (l levels) decode(name string, data []byte, n int) ([]byte, error) {
	if l == 0 {
		return nil, nil
	}
	all, err := (&rle.Encoding{BitWidth: bits.Len(uint(l))}).DecodeLevels(nil, data)
	if err == nil && len(all) < n {
		err = fmt.Errorf("%d %s levels for %d values", len(all), name, n)
	}
	if err != nil {
		return nil, err
	}
	if most := slices.Max(append(all[:n:n], 0)); most > byte(l) {
		return nil, fmt.Errorf("a %s level %d, the greatest is %d", name, most, l)
	}
	return all[:n], nil
}

// split takes the levels off the front of a page of version 1, where their length is in front.
func (l levels) split(name string, e format.Encoding, data []byte) (of, rest []byte, err error) {
	if l == 0 {
		return nil, data, nil
	}
	if e != format.RLE {
		return nil, nil, fmt.Errorf("%s levels in encoding %v; only RLE is readable", name, e)
	}
	if len(data) < 4 {
		return nil, nil, io.ErrUnexpectedEOF
	}
	size := uint64(binary.LittleEndian.Uint32(data))
	if data = data[4:]; size > uint64(len(data)) {
		return nil, nil, io.ErrUnexpectedEOF
	}
	return data[:size], data[size:], nil
}

func (p *pageReader) Close() error { return nil }

// ReadValues reads values of one page.
func (p *pageReader) ReadValues(buf []parquet.Value) (int, error) {
	for p.rows == 0 {
		if p.left <= 0 {
			return 0, io.EOF
		}
		if err := p.nextPage(); err != nil {
			return 0, err
		}
	}
	n := min(len(buf), p.rows)
	present := n
	if p.defines > 0 {
		present = bytes.Count(p.defined[:n], []byte{byte(p.defines)})
	}
	for got := 0; got < present; {
		k, err := p.values.ReadValues(buf[got:present])
		if got += k; got < present && (err != nil || k == 0) {
			return 0, fmt.Errorf("a page ends before its last %d values", p.rows)
		}
	}
	if p.defines > 0 {
		for i := n - 1; i >= 0; i-- {
			v := parquet.Value{}
			if p.defined[i] == byte(p.defines) {
				present--
				v = buf[present]
			}
			level := 0
			if p.repeats > 0 {
				level = int(p.repeated[i])
			}
			buf[i] = v.Level(level, int(p.defined[i]), 0)
		}
		p.defined = p.defined[n:]
		if p.repeats > 0 {
			p.repeated = p.repeated[n:]
		}
	}
	p.rows -= n
	return n, nil
}

// nextPage reads a page of data, and the dictionary before it.
func (p *pageReader) nextPage() error {
	var h format.PageHeader
	if err := thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(p.in)).Decode(&h); err != nil {
		return fmt.Errorf("header of a page: %w", err)
	}
	if h.CompressedPageSize < 0 || h.UncompressedPageSize < 0 {
		return fmt.Errorf("a page of %d bytes, %d uncompressed", h.CompressedPageSize, h.UncompressedPageSize)
	}
	data, err := io.ReadAll(io.LimitReader(p.in, int64(h.CompressedPageSize)))
	switch {
	case err != nil:
		return err
	case len(data) < int(h.CompressedPageSize):
		return io.ErrUnexpectedEOF
	case h.CRC != 0 && uint32(h.CRC) != crc32.ChecksumIEEE(data):
		return errors.New("the checksum of a page is wrong")
	}
	switch {
	case h.DictionaryPageHeader.Valid:
		return p.readDictionary(&h, data)
	case h.DataPageHeader.Valid:
		return p.readData(&h, data)
	case h.DataPageHeaderV2.Valid:
		return p.readDataV2(&h, data)
	}
	return nil // a page of an index
}

func (p *pageReader) readDictionary(h *format.PageHeader, data []byte) error {
	data, err := decompress(p.codec, data, int(h.UncompressedPageSize))
	if err != nil {
		return err
	}
	n := int(h.DictionaryPageHeader.V.NumValues)
	values, err := p.decode(data, n, format.Plain)
	if err == nil {
		p.dict = p.typ.NewDictionary(0, n, values)
	}
	return err
}

// readData reads a page of version 1: its levels are compressed with the values, and have
// their length in front.
func (p *pageReader) readData(h *format.PageHeader, data []byte) error {
	data, err := decompress(p.codec, data, int(h.UncompressedPageSize))
	if err != nil {
		return err
	}
	d := &h.DataPageHeader.V
	repeated, data, err := p.repeats.split("repetition", d.RepetitionLevelEncoding, data)
	if err != nil {
		return err
	}
	defined, data, err := p.defines.split("definition", d.DefinitionLevelEncoding, data)
	if err != nil {
		return err
	}
	return p.start(int(d.NumValues), repeated, defined, data, d.Encoding)
}

// readDataV2 reads a page of version 2: its levels are not compressed.
func (p *pageReader) readDataV2(h *format.PageHeader, data []byte) error {
	d := &h.DataPageHeaderV2.V
	before, size := int(d.RepetitionLevelsByteLength), int(d.DefinitionLevelsByteLength)
	if before < 0 || size < 0 || before+size > len(data) {
		return fmt.Errorf("levels of %d and %d bytes in a page of %d", before, size, len(data))
	}
	repeated, defined, data := data[:before], data[before:before+size], data[before+size:]
	if !d.IsCompressed.Valid || d.IsCompressed.V {
		var err error
		if data, err = decompress(p.codec, data, int(h.UncompressedPageSize)-before-size); err != nil {
			return err
		}
	}
	return p.start(int(d.NumValues), repeated, defined, data, d.Encoding)
}

// start begins a page of n values, missing ones included.
func (p *pageReader) start(n int, repeated, defined, data []byte, e format.Encoding) (err error) {
	if n < 0 || int64(n) > p.left {
		return fmt.Errorf("a page of %d values in a row group with %d more", n, p.left)
	}
	p.left -= int64(n)
	p.rows = n
	present := n
	if p.repeated, err = p.repeats.decode("repetition", repeated, n); err != nil {
		return err
	}
	if p.defined, err = p.defines.decode("definition", defined, n); err != nil {
		return err
	}
	if p.defines > 0 {
		present = bytes.Count(p.defined, []byte{byte(p.defines)})
	}
	const older format.Encoding = 2 // name of RLEDictionary before version 2
	if e == format.RLEDictionary || e == older {
		if p.dict == nil {
			return errors.New("a page without its dictionary")
		}
		if present == 0 {
			return nil // even the width of its indexes may be missing
		}
		indexes, err := parquet.RLEDictionary.DecodeInt32(nil, data)
		p.values = &entryReader{p.dict, indexes}
		return err
	}
	values, err := p.decode(data, present, e)
	if err == nil {
		p.values = p.typ.NewPage(0, present, values).Values()
	}
	return err
}

// decode decodes n values.
func (p *pageReader) decode(data []byte, n int, e format.Encoding) (encoding.Values, error) {
	if n < 0 {
		return encoding.Values{}, fmt.Errorf("%d values", n)
	}
	if e == format.DeltaBinaryPacked && p.typ.Kind() == parquet.Int32 {
		wide, err := parquet.DeltaBinaryPacked.DecodeInt64(nil, data)
		narrow := make([]int32, len(wide))
		for i, v := range wide {
			narrow[i] = int32(v) // sums are equal modulo 2^32
		}
		return encoding.Int32Values(narrow), err
	}
	code := parquet.LookupEncoding(e)
	dst := p.typ.NewValues(make([]byte, 0, p.typ.EstimateDecodeSize(n, data, code)), make([]uint32, 0, 1))
	return p.typ.Decode(dst, data, code)
}

// entryReader reads entries of a dictionary by their indexes.
type entryReader struct {
	dict    parquet.Dictionary
	indexes []int32
}

func (r *entryReader) ReadValues(buf []parquet.Value) (int, error) {
	n := min(len(buf), len(r.indexes))
	for _, i := range r.indexes[:n] {
		if i < 0 || int(i) >= r.dict.Len() {
			return 0, fmt.Errorf("entry %d of a dictionary with %d", i, r.dict.Len())
		}
	}
	r.dict.Lookup(r.indexes[:n], buf[:n])
	r.indexes = r.indexes[n:]
	return n, nil
}
