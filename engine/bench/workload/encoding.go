package workload

import (
	"fmt"
	"heddle/codec"
)

// encoding is a layout with the largest share of exceptions that its codecs may
// use, where they have any.
type Encoding struct {
	Layout     Layout
	Exceptions float64
}

// plainly is a layout with the default share of exceptions.
func DefaultEncoding(l Layout) Encoding { return Encoding{l, codec.DefaultOptions().ExceptionRatio} }

// String is how rows name it.
func (e Encoding) String() string {
	if e == DefaultEncoding(e.Layout) {
		return e.Layout.String()
	}
	return fmt.Sprintf("%s(%.1f)", e.Layout, e.Exceptions)
}

// options are those of the codecs.
func (e Encoding) Options() codec.Options {
	opt := codec.DefaultOptions()
	opt.ExceptionRatio = e.Exceptions
	return opt
}
