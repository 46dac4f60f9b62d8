package syntax

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

const (
	objectBytes = 256 // a decoded object and its place in a list
	valueBytes  = 32  // a decoded text or number and its place in a list
	mostMembers = 64
)

// CheckJSON checks the rules that encoding/json leaves out: a text is UTF-8, its escapes are whole characters,
// and no object has a member twice or more than 64 members. Names, unless it is nil, gets the name of each
// member. CheckJSON leaves other errors to the decoder. It returns an estimate of the memory of the decoded
// value in bytes, without its texts.
func CheckJSON(text []byte, names func(name string) error) (memory int64, err error) {
	if !utf8.Valid(text) {
		at := 0
		for {
			r, size := utf8.DecodeRune(text[at:])
			if r == utf8.RuneError && size == 1 {
				return 0, fmt.Errorf("invalid JSON text: byte %d is 0x%02x, which is not UTF-8", at+1, text[at])
			}
			at += size
		}
	}
	if reason := LoneSurrogate("text", text); reason != "" {
		return 0, errors.New(reason)
	}
	if !json.Valid(text) {
		return 0, nil
	}
	w := walker{text: text, names: names}
	err = w.walk()
	return w.memory, err
}

// walker walks through a valid JSON text.
type walker struct {
	text   []byte
	names  func(name string) error
	open   []object // the objects and arrays around a value
	memory int64
}

// object is an object, or an array with no members.
type object struct {
	members []string
	member  bool // the next string is the name of a member
}

func (w *walker) walk() error {
	for at := 0; at < len(w.text); at++ {
		switch w.text[at] {
		case '{':
			w.open = append(w.open, object{member: true})
			w.memory += objectBytes
		case '[':
			w.open = append(w.open, object{})
			w.memory += valueBytes
		case '}', ']':
			w.open = w.open[:len(w.open)-1]
		case ',':
			w.memory += valueBytes
			if top := &w.open[len(w.open)-1]; top.members != nil {
				top.member = true
			}
		case '"':
			from := at
			for at++; w.text[at] != '"'; at++ {
				if w.text[at] == '\\' {
					at++
				}
			}
			if len(w.open) == 0 || !w.open[len(w.open)-1].member {
				continue
			}
			if err := w.member(from, w.text[from:at+1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// member notes the name of a member, which is a JSON string.
func (w *walker) member(at int, quoted []byte) error {
	top := &w.open[len(w.open)-1]
	top.member = false
	var name string
	if err := json.Unmarshal(quoted, &name); err != nil {
		return err
	}
	switch {
	case slices.Contains(top.members, name):
		return fmt.Errorf("byte %d: the object has the member %s twice", at+1, Quote(name))
	case len(top.members) == mostMembers:
		return fmt.Errorf("byte %d: the object has more than %d members", at+1, mostMembers)
	}
	top.members = append(top.members, name)
	if w.names != nil {
		return w.names(name)
	}
	return nil
}
