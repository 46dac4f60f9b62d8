package config

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/BurntSushi/toml"
)

// WriteTOML writes every key with its value, as a file that Load reads back to
// the same configuration; a comment behind each says where the value came from.
func (c *Config) WriteTOML(w io.Writer) error {
	var b bytes.Buffer
	section := ""
	for _, k := range keys {
		if s := k.Section(); s != section {
			if section != "" {
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "[%s]\n", s)
			section = s
		}
		fmt.Fprintf(&b, "%s  # %s\n", k.assignment(c), oneLine(c.Origin(k.Name).String()))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// assignment is the line of a TOML file that gives the key its value in c.
func (k Key) assignment(c *Config) string {
	_, name, _ := strings.Cut(k.Name, ".")
	v := k.Get(c)
	switch s := v.(type) {
	case Size:
		v = s.String()
	case time.Duration:
		v = s.String()
	}
	line, err := toml.Marshal(map[string]any{name: v})
	if err != nil { // the types of a value are all TOML's own
		panic("config: " + k.Name + ": " + err.Error())
	}
	return strings.TrimSpace(string(line))
}

// oneLine makes s fit for a TOML comment: no control characters, valid UTF-8.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
