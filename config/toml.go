package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// maxFile limits the size of a configuration file. The example has about 10 KiB; a
// longer file was named by mistake.
const maxFile = 64 << 10

func (c *Config) readFile(path string) error {
	info, err := os.Stat(path) // before Open, which waits for the writer of a pipe
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return &Error{Origin: Origin{Kind: FromFile, Name: path}, Reason: "not a regular file"}
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return err
	}
	return c.readTOML(path, data)
}

// readTOML reads the keys in the content of a file. It returns the first error in the
// file; c is incomplete then.
func (c *Config) readTOML(path string, data []byte) error {
	if len(data) > maxFile {
		return &Error{Origin: Origin{Kind: FromFile, Name: path},
			Reason: fmt.Sprintf("longer than %s: not a configuration", Size(maxFile))}
	}
	top := map[string]toml.Primitive{}
	md, err := toml.Decode(string(data), &top)
	if err != nil {
		if pe, ok := errors.AsType[toml.ParseError](err); ok {
			at := Origin{Kind: FromFile, Name: path, Line: pe.Position.Line, Column: pe.Position.Col}
			return &Error{Origin: at, Reason: pe.Message}
		}
		return &Error{Origin: Origin{Kind: FromFile, Name: path}, Reason: strings.TrimPrefix(err.Error(), "toml: ")}
	}
	for _, name := range md.Keys() { // in the order of the file
		found, offset := locate(&md, top, name)
		at := place(path, data, offset)
		if k, ok := Lookup(strings.Join(name, ".")); ok && len(name) == 2 {
			if err := k.setTOML(c, found); err != nil {
				return &Error{Origin: at, Reason: err.Error()}
			}
			c.origins[k.Name] = at
			continue
		}
		var reason string
		switch _, isTable := found.(map[string]any); {
		case len(name) > 1:
			reason = unknownKey(strings.Join(name, "."))
		case !slices.Contains(sections(), name[0]):
			reason = unknownSection(name[0])
		case isTable:
			continue
		default:
			reason = fmt.Sprintf("[%s] is a section, found %s", name[0], tomlName(found))
		}
		at = place(path, data, keyOffset(data, offset, name[len(name)-1]))
		return &Error{Origin: at, Reason: reason}
	}
	return nil
}

// locate returns the value of a key and its offset: inside the quotes of a string, or
// at the header of a table. The TOML library reveals positions only in the errors of a
// custom decoder, so locate decodes the value with one that always fails.
func locate(md *toml.MetaData, table map[string]toml.Primitive, name toml.Key) (found any, offset int) {
	for _, part := range name[:min(len(name), 2)] { // keys have two parts
		p, ok := table[part]
		if !ok {
			break
		}
		var probe valueProbe
		if pe, ok := errors.AsType[toml.ParseError](md.PrimitiveDecode(p, &probe)); ok {
			found, offset = probe.value, pe.Position.Start
		}
		table = nil
		if _, ok := found.(map[string]any); ok {
			if err := md.PrimitiveDecode(p, &table); err != nil {
				break
			}
		}
	}
	return found, offset
}

type valueProbe struct{ value any }

// UnmarshalTOML stores the value and returns an error, which gets a position.
func (p *valueProbe) UnmarshalTOML(v any) error {
	p.value = v
	return errors.New("here")
}

// place is the line and column of an offset in the file.
func place(path string, data []byte, offset int) Origin {
	before := data[:min(offset, len(data))]
	return Origin{Kind: FromFile, Name: path,
		Line:   1 + bytes.Count(before, []byte("\n")),
		Column: len(before) - bytes.LastIndexByte(before, '\n')}
}

// keyOffset returns the offset of the last part of a key: on the line of its value,
// before the value, or in the header of a table. Otherwise it returns the offset of
// the value.
func keyOffset(data []byte, value int, last string) int {
	value = min(value, len(data))
	start := 1 + bytes.LastIndexByte(data[:value], '\n')
	if i := bytes.LastIndex(data[start:value], []byte(last)); i >= 0 {
		return start + i
	}
	line, _, _ := bytes.Cut(data[value:], []byte("\n"))
	if i := bytes.LastIndex(line, []byte(last)); i >= 0 {
		return value + i
	}
	return value
}
