package records

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// members reads the members of one JSON object without allocation. It leaves objects that
// are incorrect, and a few rare ones, to encoding/json, which words their faults.
type members struct {
	rest []byte
	bad  bool
}

// maxNested bounds the depth of the values that members reads.
const maxNested = 64

// each calls emit with the name of each member, without its quotes, and the text of its value.
// It returns false if text is no JSON object, or has a name with an escape or beyond ASCII.
func (m *members) each(text []byte, emit func(name, value []byte)) bool {
	*m = members{rest: text}
	if m.space(); !m.take('{') {
		return false
	}
	if m.space(); !m.take('}') {
		for more := true; more && !m.bad; more = m.take(',') {
			m.space()
			name, plain := m.string()
			m.space()
			if m.bad || !plain || !isPlain(name) || !m.take(':') {
				return false
			}
			m.space()
			start := m.rest
			if m.value(0); m.bad {
				return false
			}
			emit(name[1:len(name)-1], start[:len(start)-len(m.rest)])
			m.space()
		}
		m.bad = m.bad || !m.take('}')
	}
	m.space()
	return !m.bad && len(m.rest) == 0
}

// isPlain reports ASCII: other letters may equal ASCII letters in another case.
func isPlain(name []byte) bool {
	for _, c := range name {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func (m *members) space() {
	for len(m.rest) > 0 && (m.rest[0] == ' ' || m.rest[0] == '\t' || m.rest[0] == '\n' || m.rest[0] == '\r') {
		m.rest = m.rest[1:]
	}
}

// take skips c, and reports whether it was there.
func (m *members) take(c byte) bool {
	if len(m.rest) == 0 || m.rest[0] != c {
		return false
	}
	m.rest = m.rest[1:]
	return true
}

// value skips a value.
func (m *members) value(depth int) {
	if len(m.rest) == 0 || depth > maxNested {
		m.bad = true
		return
	}
	switch c := m.rest[0]; c {
	case '"':
		m.string()
	case '{', '[':
		m.nested(c, depth+1)
	case 't':
		m.word("true")
	case 'f':
		m.word("false")
	case 'n':
		m.word("null")
	default:
		m.number()
	}
}

// nested skips an object or an array.
func (m *members) nested(open byte, depth int) {
	m.rest = m.rest[1:]
	end := open + 2 // ] or }
	if m.space(); m.take(end) {
		return
	}
	for more := true; more && !m.bad; more = m.take(',') {
		m.space()
		if open == '{' {
			m.string()
			m.space()
			m.bad = m.bad || !m.take(':')
			m.space()
		}
		m.value(depth)
		m.space()
	}
	m.bad = m.bad || !m.take(end)
}

func (m *members) word(w string) {
	if m.bad = !bytes.HasPrefix(m.rest, []byte(w)); !m.bad {
		m.rest = m.rest[len(w):]
	}
}

func (m *members) number() {
	m.take('-')
	if !m.take('0') {
		m.digits()
	}
	if m.take('.') {
		m.digits()
	}
	if m.take('e') || m.take('E') {
		if !m.take('+') {
			m.take('-')
		}
		m.digits()
	}
}

// digits skips one digit or more.
func (m *members) digits() {
	n := 0
	for n < len(m.rest) && '0' <= m.rest[n] && m.rest[n] <= '9' {
		n++
	}
	m.rest, m.bad = m.rest[n:], m.bad || n == 0
}

// inString are the bytes that a string has as they are: all but quotes, the backslash and
// control characters.
var inString = func() (is [256]bool) {
	for c := range is {
		is[c] = c >= ' ' && c != '"' && c != '\\'
	}
	return is
}()

// string skips a string and returns it with its quotes, and whether it has no escape.
func (m *members) string() (quoted []byte, plain bool) {
	b := m.rest
	if len(b) == 0 || b[0] != '"' {
		m.bad = true
		return nil, false
	}
	plain = true
	for i := 1; i < len(b); i++ {
		switch c := b[i]; {
		case inString[c]:
		case c == '"':
			m.rest = b[i+1:]
			return b[:i+1], plain
		case c == '\\' && i+1 < len(b) && escaped[b[i+1]] != 0:
			plain = false
			i++
		default: // a control character or an unknown escape
			m.bad = true
			return nil, false
		}
	}
	m.bad = true
	return nil, false
}

// escaped is the meaning of a byte behind a backslash; 0 if it has none. u stands for itself:
// four hexadecimal digits follow, which encoding/json checks.
var escaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'u': 'u'}

// appendString appends the value of a JSON string without incorrect escapes but \u.
func appendString(dst, quoted []byte) ([]byte, error) {
	plain := quoted[1 : len(quoted)-1]
	if !utf8.Valid(plain) || bytes.Contains(plain, []byte(`\u`)) {
		var s string
		err := json.Unmarshal(quoted, &s)
		return append(dst, s...), err
	}
	for {
		n := bytes.IndexByte(plain, '\\')
		if n < 0 {
			return append(dst, plain...), nil
		}
		dst = append(append(dst, plain[:n]...), escaped[plain[n+1]])
		plain = plain[n+2:]
	}
}
