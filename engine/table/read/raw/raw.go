// Package raw reads columns of numbers in files of their own, as arrays of bytes.
package raw

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"heddle/engine/file/input"
	"heddle/engine/syntax"
	"heddle/engine/table/column"
	"heddle/engine/table/read"
)

// Column is a column in a file of its own: its values in the order of the rows,
// little-endian, without separators.
type Column struct {
	Name string
	Kind string // i8 i16 i32 i64 u8 u16 u32 u64 f32 f64
	Path string
	// Missing is the value that stands for none, as text; without it all rows have one.
	// The text nan stands for every NaN.
	Missing string
}

// Parse reads NAME:TYPE:FILE or NAME:TYPE:FILE:MISSING, TYPE being a Kind. A file whose name has a colon
// needs the last colon of the longer form, even if no value is missing.
func Parse(s string) (c Column, err error) {
	name, rest, _ := strings.Cut(s, ":")
	kind, path, ok := strings.Cut(rest, ":")
	c = Column{Name: name, Kind: kind, Path: path}
	if i := strings.LastIndexByte(path, ':'); i >= 0 {
		c.Path, c.Missing = path[:i], path[i+1:]
	}
	if !ok || name == "" || c.Path == "" {
		return c, fmt.Errorf("%q is not NAME:TYPE:FILE or NAME:TYPE:FILE:MISSING", s)
	}
	_, err = c.kind()
	return c, err
}

// kindOf is a type of values in raw files.
type kindOf struct {
	name string
	size int // bytes
	to   column.Type
	key  func(bits uint64) uint64
}

func intKind(name string, size int, value func(bits uint64) int64) kindOf {
	return kindOf{name, size, column.Int, func(bits uint64) uint64 { return column.IntKey(value(bits)) }}
}

var kinds = []kindOf{
	intKind("i8", 1, func(b uint64) int64 { return int64(int8(b)) }),
	intKind("i16", 2, func(b uint64) int64 { return int64(int16(b)) }),
	intKind("i32", 4, func(b uint64) int64 { return int64(int32(b)) }),
	intKind("i64", 8, func(b uint64) int64 { return int64(b) }),
	intKind("u8", 1, func(b uint64) int64 { return int64(b) }),
	intKind("u16", 2, func(b uint64) int64 { return int64(b) }),
	intKind("u32", 4, func(b uint64) int64 { return int64(b) }),
	{"u64", 8, column.Uint, func(b uint64) uint64 { return b }},
	{"f32", 4, column.Float32, func(b uint64) uint64 { return column.Float32Key(math.Float32frombits(uint32(b))) }},
	{"f64", 8, column.Float, func(b uint64) uint64 { return column.FloatKey(math.Float64frombits(b)) }},
}

// file is a column that is being read.
type file struct {
	Column
	kindOf
	none    uint64 // key of the value that stands for none
	hasNone bool
	r       *input.Reader
	offset  int64 // offset of the next value, in bytes
	bytes   []byte
}

// kind finds the kind and the value that stands for none.
func (c Column) kind() (f file, err error) {
	i := slices.IndexFunc(kinds, func(k kindOf) bool { return k.name == c.Kind })
	if i < 0 {
		var names []string
		for _, k := range kinds {
			names = append(names, k.name)
		}
		return f, fmt.Errorf("column %q: unknown type %q (one of %s)", c.Name, c.Kind, strings.Join(names, ", "))
	}
	f = file{Column: c, kindOf: kinds[i], hasNone: c.Missing != ""}
	if !f.hasNone {
		return f, nil
	}
	var v uint64
	switch bits := 8 * f.size; c.Kind[0] {
	case 'f':
		x, ok := syntax.ParseFloat(c.Missing, bits)
		if v = math.Float64bits(x); bits == 32 {
			v = uint64(math.Float32bits(float32(x)))
		}
		if !ok {
			err = strconv.ErrSyntax
		}
	case 'u':
		v, err = strconv.ParseUint(c.Missing, 10, bits)
	default:
		var x int64
		x, err = strconv.ParseInt(c.Missing, 10, bits)
		v = uint64(x)
	}
	f.none = f.key(v)
	if err != nil {
		return f, fmt.Errorf("column %q: %q, which is to stand for missing values, is no %s", c.Name, c.Missing, c.Kind)
	}
	return f, nil
}

// Options say how raw files are read.
type Options struct {
	Stdin io.Reader // input of the file "-"; the default is os.Stdin
}

// batchRows is the number of rows of a batch.
const batchRows = 65536

type source struct {
	opener input.Opener
	cancel context.CancelFunc
	fields []read.Field
	files  []file
	total  int64
	rows   int64 // so far
	err    error
}

// Open opens columns in files of their own, gzipped or not, which must be equally
// long. The Source is done with when ctx is, too.
func Open(ctx context.Context, columns []Column, opt Options) (read.Source, error) {
	if len(columns) == 0 {
		return nil, errors.New("no raw column is given")
	}
	if opt.Stdin == nil {
		opt.Stdin = os.Stdin
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &source{cancel: cancel}
	s.opener.Ctx, s.opener.Stdin = ctx, opt.Stdin
	var paths, names []string
	for _, c := range columns {
		if err := s.open(c); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		paths, names = append(paths, c.Path), append(names, c.Name)
	}
	s.total = read.Sizes(paths)
	if _, err := read.Choose(names, nil); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *source) open(c Column) error {
	f, err := c.kind()
	if err != nil {
		return err
	}
	if f.r, err = s.opener.Open(c.Path); err != nil {
		return err
	}
	s.files = append(s.files, f)
	s.fields = append(s.fields, read.Field{Name: c.Name, Type: f.to})
	return nil
}

func (s *source) Fields() []read.Field { return s.fields }

func (s *source) Progress() (done, total int64) { return s.opener.Count(), s.total }

// Invalid implements read.Source: raw columns have no texts.
func (s *source) Invalid() read.InvalidRows { return read.InvalidRows{} }

func (s *source) Next(ctx context.Context, b *read.Batch) error {
	if s.err == nil {
		s.err = s.next(ctx, b)
	}
	return s.err
}

func (s *source) next(ctx context.Context, b *read.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b.Reset(len(s.files))
	failed := make([]error, len(s.files))
	read.Parallel(len(s.files), func(i int) { failed[i] = s.files[i].read(&b.Columns[i]) })
	if err := errors.Join(failed...); err != nil {
		return err
	}
	b.Rows = len(b.Columns[0].Keys)
	for i := range s.files {
		if n := len(b.Columns[i].Keys); n != b.Rows {
			return s.uneven(i, n, b.Rows)
		}
	}
	s.rows += int64(b.Rows)
	if b.Rows == 0 {
		return io.EOF
	}
	return nil
}

// uneven is the error for file i with n more values, where the first file has m more.
func (s *source) uneven(i, n, m int) error {
	short, long := &s.files[i], &s.files[0]
	if n > m {
		short, long = long, short
	}
	return &input.Error{Path: short.Path, Offset: short.offset, Reason: fmt.Sprintf("column %q ends after %d values; %q of %s has %d at least",
		short.Name, s.rows+int64(min(n, m)), long.Name, long.Path, s.rows+int64(max(n, m)))}
}

// read appends the next values, batchRows of them unless the file ends.
func (f *file) read(v *read.Values) error {
	if f.bytes == nil {
		f.bytes = make([]byte, batchRows*f.size)
	}
	n := 0
	for n < len(f.bytes) {
		k, err := f.r.Read(f.bytes[n:])
		n += k
		if err == io.EOF {
			break
		}
		if err != nil {
			return input.Explain(f.Path, f.offset+int64(n), err)
		}
	}
	if n%f.size != 0 {
		return f.errorf(int64(n-n%f.size), "the file ends within a value of %d bytes", f.size)
	}
	for at := 0; at < n; at += f.size {
		key := f.key(load(f.bytes[at : at+f.size]))
		if f.hasNone && key == f.none {
			v.AppendMissing(f.to)
		} else {
			v.AppendKey(key)
		}
	}
	f.offset += int64(n)
	return nil
}

func (f *file) errorf(at int64, format string, args ...any) error {
	return &input.Error{Path: f.Path, Offset: f.offset + at, Reason: fmt.Sprintf("column %q: ", f.Name) + fmt.Sprintf(format, args...)}
}

// load reads 1, 2, 4 or 8 bytes.
func load(b []byte) uint64 {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

func (s *source) Close() error {
	s.cancel()
	var err error
	for i := range s.files {
		err = errors.Join(err, s.files[i].r.Close())
	}
	s.files = nil
	s.err = cmp.Or(s.err, os.ErrClosed)
	return err
}
