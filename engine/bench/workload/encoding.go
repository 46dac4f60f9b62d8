package workload

import (
	"fmt"

	"heddle/codec"
)

// Encoding is a layout with the largest fraction of exceptions that its codecs may use.
// Codecs without exceptions ignore the fraction.
type Encoding struct {
	Layout     Layout
	Exceptions float64
}

// DefaultEncoding is a layout with the default fraction of exceptions.
func DefaultEncoding(l Layout) Encoding { return Encoding{l, codec.DefaultOptions().ExceptionRatio} }

// String names the encoding in rows.
func (e Encoding) String() string {
	if e == DefaultEncoding(e.Layout) {
		return e.Layout.String()
	}
	return fmt.Sprintf("%s(%.1f)", e.Layout, e.Exceptions)
}

// Options returns the options of the codecs.
func (e Encoding) Options() codec.Options {
	opt := codec.DefaultOptions()
	opt.ExceptionRatio = e.Exceptions
	return opt
}
