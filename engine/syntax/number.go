package syntax

import "strconv"

// ParseFloat reads a number of data: [+-]digits[.digits][e[+-]digits] with a digit before or behind the
// point, or inf, infinity or nan in any case, the infinite ones with a sign perhaps. bits is 32 or 64: the
// number is rounded to the nearest value of so many bits. ok is false for another text, for the forms of
// Go too, such as 0x1p4 and 1_000, and for a number out of range.
func ParseFloat(text string, bits int) (v float64, ok bool) {
	for i := range len(text) {
		if c := text[i]; c == '_' || c == 'x' || c == 'X' {
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(text, bits)
	return v, err == nil
}
