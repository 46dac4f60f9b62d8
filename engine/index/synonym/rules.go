// Package synonym reads synonyms in the format of Solr and puts them into queries.
//
//	# a comment
//	car, auto, automobile          each stands for all of them
//	tv, telly => television        a word on the left stands for the words on the right alone
//	ny, new york                   several words are a phrase, and need an index with positions
//
// A backslash makes the next character plain text. Rules with one left side add up.
package synonym

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"heddle/engine/syntax"
)

// Rules are the synonyms of a file.
type Rules struct {
	Name string // of the file, in errors; default: "synonyms"
	all  []rule
}

// rule is a line: each of from stands for all of to.
type rule struct {
	line     int
	from, to []string
}

// Bounds of a file.
const (
	mostLine  = 1 << 20 // bytes
	mostRules = 1 << 20
)

// Read reads a file of synonyms. The error of a wrong line has its number.
func Read(from io.Reader) (*Rules, error) {
	in := bufio.NewScanner(from)
	in.Buffer(nil, mostLine)
	r := &Rules{}
	number := 0
	for in.Scan() {
		number++
		line := strings.TrimSpace(in.Text())
		if number == 1 {
			line = strings.TrimPrefix(line, "\uFEFF")
		}
		if line == "" || line[0] == '#' {
			continue
		}
		if !utf8.ValidString(line) {
			return nil, fmt.Errorf("line %d: %s is no UTF-8", number, syntax.Quote(line))
		}
		one, err := readRule(line)
		if err == nil && len(r.all) == mostRules {
			err = fmt.Errorf("more than %d rules", mostRules)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		one.line = number
		r.all = append(r.all, one)
	}
	if err := in.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("line %d: more than %d bytes", number+1, mostLine-1)
	} else if err != nil {
		return nil, fmt.Errorf("line %d: %w", number+1, err)
	}
	return r, nil
}

func readRule(line string) (r rule, err error) {
	sides := [][]string{nil}
	var word strings.Builder
	end := func() error {
		text := strings.Join(strings.Fields(word.String()), " ")
		word.Reset()
		if text == "" {
			return fmt.Errorf("an empty word in %s", syntax.Quote(line))
		}
		last := &sides[len(sides)-1]
		*last = append(*last, text)
		return nil
	}
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && i+1 < len(line):
			i++
			word.WriteByte(line[i])
			continue
		case line[i] == ',':
			err = end()
		case strings.HasPrefix(line[i:], "=>"):
			err = end()
			sides = append(sides, nil)
			i++
		default:
			word.WriteByte(line[i])
		}
		if err != nil {
			return r, err
		}
	}
	if err := end(); err != nil {
		return r, err
	}
	switch {
	case len(sides) > 2:
		return r, errors.New("more than one =>")
	case len(sides) == 2:
		return rule{from: sides[0], to: sides[1]}, nil
	case len(sides[0]) == 1:
		return r, fmt.Errorf("%s has no synonym", syntax.Quote(sides[0][0]))
	}
	return rule{from: sides[0], to: sides[0]}, nil
}
