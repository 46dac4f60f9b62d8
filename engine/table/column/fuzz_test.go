package column

import "testing"

// FuzzParseTimestamp reads the printed form of each time back.
func FuzzParseTimestamp(f *testing.F) {
	for _, text := range []string{"2001-02-03", "-0001-12-31 04:05", "+294247-01-10T04:00:54.775806Z", "-infinity", "2001-02-03 04:05:06.5-0830", "1677-09-21 00:12:43.145224194"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, typ := range []Type{Timestamp, TimestampNS} {
			key, ok := ParseTimestamp(typ, text)
			if !ok {
				continue
			}
			printed := string(appendTimestamp(nil, typ, KeyInt(key)))
			if got, ok := ParseTimestamp(typ, printed); !ok || got != key {
				t.Errorf("%q is %d, printed %s, which is %d", text, key, printed, got)
			}
		}
	})
}

// FuzzParseDecimal reads the printed form of each decimal back.
func FuzzParseDecimal(f *testing.F) {
	f.Add("-12.50", uint8(2))
	f.Add("1e-3", uint8(38))
	f.Add("99999999999999999999999999999999999999.", uint8(0))
	f.Fuzz(func(t *testing.T, text string, scale uint8) {
		if scale > MaxScale {
			return
		}
		v, ok := ParseDecimal(text, MaxScale, scale)
		if !ok {
			return
		}
		printed := formatDecimal(v.String(), scale)
		if got, ok := ParseDecimal(printed, MaxScale, scale); !ok || got.Cmp(v) != 0 {
			t.Errorf("%q is %v, printed %s, which is %v", text, v, printed, got)
		}
	})
}

// FuzzParseDeclared gives a type with a scale that fits, or an error.
func FuzzParseDeclared(f *testing.F) {
	f.Add("decimal(9,2)")
	f.Add("decimal(38)")
	f.Add("uint")
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := ParseDeclared(text); err == nil && (d.Type > TimestampNS || d.Scale > d.Digits || d.Digits > MaxScale || d.Digits > 0 != d.Type.IsDecimal()) {
			t.Errorf("%q: %+v", text, d)
		}
	})
}
