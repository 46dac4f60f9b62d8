package input

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/transform"
)

// Mark is the byte order mark of UTF-8.
const Mark = "\ufeff"

// SkipMark drops a byte order mark if it comes next, and returns its number of bytes.
func (r *Reader) SkipMark() int {
	if head, _ := r.Peek(len(Mark)); string(head) != Mark {
		return 0
	}
	n, _ := r.Discard(len(Mark)) // cannot fail on buffered bytes
	return n
}

// Text prepares the input at path for reading as UTF-8, before the first byte is read. It
// drops a byte order mark and returns its number of bytes. With the mark of UTF-16, it
// converts the input and sets UTF16: invalid UTF-16 becomes invalid UTF-8. It refuses
// other encodings with a mark or with escapes, formats that are no text and known by their
// first bytes, and text with many zero bytes. The error is an *Error.
func (r *Reader) Text(path string) (skipped int, err error) {
	head, _ := r.Peek(headSize)
	if reason := refused(head); reason != "" {
		return 0, &Error{Path: path, Reason: reason}
	}
	if isUTF16(head) {
		r.Reader, r.UTF16 = buffered(newUTF16(r.Reader)), true
		return 0, nil
	}
	return r.SkipMark(), nil
}

// Encodings are the names of encodings for TextIn.
func Encodings() []string { return []string{"utf-8", "utf-16", "latin1", "windows-1252"} }

// TextIn is Text for an input in a named encoding, which it converts to UTF-8 whatever its first bytes are. A byte order
// mark, or else the place of zero bytes, tells the order of bytes of UTF-16. The empty name is Text.
func (r *Reader) TextIn(path, encoding string) (skipped int, err error) {
	switch encoding {
	case "":
		return r.Text(path)
	case "utf-8":
		return r.SkipMark(), nil
	case "utf-16":
		r.Reader, r.UTF16 = buffered(newUTF16(r.Reader)), true
		return 0, nil
	case "latin1":
		r.Reader = buffered(charmap.ISO8859_1.NewDecoder().Reader(r.Reader))
		return 0, nil
	case "windows-1252":
		r.Reader = buffered(transform.NewReader(r.Reader, windows1252{}))
		return 0, nil
	}
	return 0, fmt.Errorf("unknown encoding %q (one of %s)", encoding, strings.Join(Encodings(), ", "))
}

// windows1252 decodes Windows-1252. The five bytes that are no characters stay, and are invalid in UTF-8.
type windows1252 struct{ transform.NopResetter }

func (windows1252) Transform(dst, src []byte, _ bool) (written, read int, err error) {
	for ; read < len(src); read++ {
		if len(dst)-written < utf8.UTFMax {
			return written, read, transform.ErrShortDst
		}
		if r := charmap.Windows1252.DecodeByte(src[read]); r != utf8.RuneError {
			written += utf8.EncodeRune(dst[written:], r)
			continue
		}
		dst[written] = src[read]
		written++
	}
	return written, read, nil
}

// Plain returns a text in memory as Text and EndLines read it: in UTF-8 without a byte order mark, with
// lines that end in LF. Compressed data is refused, so that the text is little longer than data.
// The error is an *Error that names path.
func Plain(path string, data []byte) ([]byte, error) {
	for _, f := range compressions {
		if f.starts(data[:min(len(data), magicSize)]) {
			return nil, &Error{Path: path, Reason: f.name + " data" + unpack}
		}
	}
	r := &Reader{Reader: bufio.NewReaderSize(bytes.NewReader(data), min(len(data)+1, Buffer))}
	if _, err := r.Text(path); err != nil {
		return nil, err
	}
	r.EndLines(false)
	return io.ReadAll(r)
}

// InvalidByte describes the first invalid byte of a text that is not UTF-8. unit names the
// text: a document or a value. utf16 says that the text was converted from UTF-16.
func InvalidByte(unit string, text []byte, utf16 bool) string {
	at := 0
	for {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size < 2 {
			break
		}
		at += size
	}
	encoding := "UTF-8"
	if utf16 {
		encoding = "UTF-16"
	}
	if half, ok := surrogate(text[at:]); ok {
		return fmt.Sprintf("invalid %s: byte %d of the %s is half of a surrogate pair, U+%04X", encoding, at, unit, half)
	}
	if utf16 {
		return "invalid UTF-16: the text ends within a character"
	}
	return fmt.Sprintf("invalid UTF-8: byte %d of the %s is 0x%02x", at, unit, text[at])
}

// EndLines makes LF of CR in an input whose lines end in CR alone: the first Buffer bytes
// have CR and no LF. With quotes, CR between two double quotes stays. It is called before the
// first byte is read.
func (r *Reader) EndLines(quotes bool) {
	if head, _ := r.Peek(Buffer); bytes.IndexByte(head, '\r') >= 0 && bytes.IndexByte(head, '\n') < 0 {
		r.Reader = buffered(&carriageReturns{r: r.Reader, quotes: quotes})
	}
}

// carriageReturns makes LF of CR.
type carriageReturns struct {
	r              io.Reader
	quotes, quoted bool
}

func (c *carriageReturns) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	for i, b := range p[:n] {
		if b == '"' {
			c.quoted = c.quotes && !c.quoted
		} else if b == '\r' && !c.quoted {
			p[i] = '\n'
		}
	}
	return n, err
}

// Decode returns a reader of text in UTF-8: it converts UTF-16 with a byte order mark. It reads
// at most two bytes ahead of a slow input.
func Decode(r io.Reader) *bufio.Reader {
	b := bufio.NewReaderSize(r, 64<<10)
	if head, _ := b.Peek(2); isUTF16(head) {
		return bufio.NewReaderSize(newUTF16(b), 64<<10)
	}
	return b
}

// isUTF16 reports whether head starts with the byte order mark of UTF-16.
func isUTF16(head []byte) bool {
	return bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff"))
}

const (
	headSize  = 4 << 10 // bytes by which Text recognises formats
	zeroShare = 16      // more than one zero in so many bytes are many
)

// Advice for formats that hold text.
const (
	unpack  = ": unpack it first"
	extract = ": extract its text first, for example as JSON lines"
)

// foreign are formats that Text refuses, by their first bytes.
var foreign = []struct{ magic, name string }{
	{"\xff\xfe\x00\x00", "text in UTF-32: convert it to UTF-8"},
	{"\x00\x00\xfe\xff", "text in UTF-32: convert it to UTF-8"},
	{"\x1f\x8b", "gzip data inside compressed data" + unpack},
	{"\x28\xb5\x2f\xfd", "zstd data inside compressed data" + unpack},
	{"\xfd7zXZ\x00", "xz data" + unpack},
	{"\x04\x22\x4d\x18", "LZ4 data" + unpack},
	{"\x1f\x9d", "data of compress (.Z)" + unpack},
	{"7z\xbc\xaf\x27\x1c", "a 7z archive" + unpack},
	{"Rar!\x1a\x07", "a RAR archive" + unpack},
	{"PK\x03\x04", "a ZIP archive, or a document in one (docx, odt, epub)" + unpack},
	{"PK\x05\x06", "an empty ZIP archive"},
	{"WARC/", "a web archive (WARC)" + extract},
	{"%PDF-", "a PDF document" + extract},
	{"%!PS", "a PostScript document" + extract},
	{`{\rtf`, "a document in rich text format (RTF)" + extract},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a document of Microsoft Office" + extract},
	{"PAR1\x15", "a Parquet file: bitmap build reads it as a table"},
	{"ARROW1\x00\x00", "an Arrow file: convert it to Parquet for bitmap build"},
	{"Obj\x01", "an Avro file" + extract},
	{"SQLite format 3\x00", "an SQLite database" + extract},
	{"\x89HDL\r\n\x1a\n", "an index file of heddle"},
	{"\x89HDB\r\n\x1a\n", "a table file of heddle"},
	{"\x89PNG\r\n\x1a\n", "a PNG image"},
	{"\xff\xd8\xff", "a JPEG image"},
	{"\x7fELF", "an executable file"},
}

// tarMagic stands behind the name and numbers of the first file in a tar archive.
const tarMagic = "ustar"

// refused is the reason to refuse an input that starts with head, or empty.
func refused(head []byte) string {
	for _, f := range foreign {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return f.name
		}
	}
	const tarOffset = 257
	if len(head) > tarOffset && bytes.HasPrefix(head[tarOffset:], []byte(tarMagic)) {
		return "a tar archive" + unpack
	}
	if bytes.Contains(head, []byte("\x1b$")) {
		return "text in ISO-2022, of 7 bits for Japanese, Chinese or Korean: convert it to UTF-8"
	}
	if zeros := bytes.Count(head, []byte{0}); !isUTF16(head) && zeros > 1 && zeros*zeroShare > len(head) {
		return "many zero bytes: binary data, or UTF-16 without a byte order mark"
	}
	return ""
}
