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

// WriteTOML writes every key with its value, and with its origin as a comment. Load
// reads the output as the same configuration.
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

// assignment returns the line of a TOML file that sets the key to its value in c.
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
	if err != nil { // TOML has all types of settings
		panic("config: " + k.Name + ": " + err.Error())
	}
	return strings.TrimSpace(string(line))
}

// oneLine returns s for a TOML comment: valid UTF-8 without control characters.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
