package config

import "fmt"

// Kind is the kind of a source.
type Kind uint8

const (
	FromDefault Kind = iota
	FromFile
	FromEnvironment
	FromFlag
)

// Origin is the place where a value was set. The zero value is the default.
type Origin struct {
	Kind   Kind
	Name   string // file path, variable or flag; empty for a default
	Line   int    // in the file, from 1; 0 if unknown or not a file
	Column int    // in bytes from 1
}

// String returns "default", "FILE:LINE", "environment NAME" or "flag --NAME".
func (o Origin) String() string {
	switch o.Kind {
	case FromFile:
		if o.Line == 0 {
			return o.Name
		}
		return fmt.Sprintf("%s:%d", o.Name, o.Line)
	case FromEnvironment:
		return "environment " + o.Name
	case FromFlag:
		return "flag --" + o.Name
	}
	return "default"
}

// Error is an error in the configuration, with its position.
type Error struct {
	Origin Origin
	Reason string
}

func (e *Error) Error() string {
	if e.Origin.Kind == FromFile && e.Origin.Line > 0 {
		return fmt.Sprintf("%s:%d:%d: %s", e.Origin.Name, e.Origin.Line, e.Origin.Column, e.Reason)
	}
	return fmt.Sprintf("%s: %s", e.Origin, e.Reason)
}
