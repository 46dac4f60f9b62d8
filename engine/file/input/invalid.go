package input

import (
	"fmt"
	"strings"
)

// Invalid is the treatment of invalid documents of an index, and of rows of a table with
// invalid UTF-8.
type Invalid string

const (
	Replace Invalid = "replace" // invalid UTF-8 becomes U+FFFD, all else that can be read stays as it is
	Skip    Invalid = "skip"    // invalid documents or rows are left out
	Fail    Invalid = "fail"    // the first one ends the build

	// Truncate is Replace, and cuts texts of tables that are too long.
	Truncate Invalid = "truncate"
)

// InvalidModes returns the treatments of documents.
func InvalidModes() []Invalid { return []Invalid{Replace, Skip, Fail} }

// InvalidRowModes returns the treatments of rows of tables.
func InvalidRowModes() []Invalid { return append(InvalidModes(), Truncate) }

// ParseInvalid finds a treatment by its name, in any case.
func ParseInvalid(s string) (Invalid, error) {
	for _, m := range InvalidModes() {
		if strings.EqualFold(s, string(m)) {
			return m, nil
		}
	}
	return "", fmt.Errorf("unknown treatment %q of invalid input (one of %v)", s, InvalidModes())
}
