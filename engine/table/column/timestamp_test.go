package column

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

func TestParseTimestamp(t *testing.T) {
	for s, want := range map[string]string{
		"2001-02-03":                       "2001-02-03T00:00:00Z",
		"2001-02-03 04:05":                 "2001-02-03T04:05:00Z",
		"2001-02-03T04:05:06":              "2001-02-03T04:05:06Z",
		"2001-02-03t04:05:06z":             "2001-02-03T04:05:06Z",
		"2001-02-03 04:05:06.5":            "2001-02-03T04:05:06.5Z",
		"2001-02-03 04:05:06.1234560000":   "2001-02-03T04:05:06.123456Z",
		"1969-12-31 23:59:59.99999900":     "1969-12-31T23:59:59.999999Z",
		"2001-02-03T04:05:06+01:30":        "2001-02-03T02:35:06Z",
		"2001-02-03 04:05:06.25-0800":      "2001-02-03T12:05:06.25Z",
		"2001-02-03 04:05+02":              "2001-02-03T02:05:00Z",
		"2000-02-29":                       "2000-02-29T00:00:00Z",
		"0000-01-01":                       "0000-01-01T00:00:00Z",
		"9999-12-31T23:59:59.999999-23:59": "9999-12-31T23:59:59.999999-23:59",
	} {
		at, err := time.Parse(time.RFC3339Nano, want)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := ParseTimestamp(Timestamp, s); !ok || got != IntKey(at.UnixMicro()) {
			t.Errorf("%q: %d %v, want %d", s, got, ok, at.UnixMicro())
		}
	}
	for s, want := range map[string]int64{
		"10000-01-01": 253402300800e6, "+10000-01-01 00:00": 253402300800e6, "0010000-01-01": 253402300800e6, "-0001-12-31": -62167219200e6 - 86400e6,
		"294247-01-10T04:00:54.775806Z": Infinity - 1, "-290308-12-21T19:59:05.224194Z": -Infinity + 1, "infinity": Infinity, "-Infinity": -Infinity,
	} {
		if got, ok := ParseTimestamp(Timestamp, s); !ok || got != IntKey(want) {
			t.Errorf("%q: %d %v, want %d", s, got, ok, want)
		}
	}
	for s, want := range map[string]int64{
		"1970-01-01 00:00:01.000000001": 1e9 + 1, "1969-12-31T23:59:59.9999999990": -1, "2262-04-11T23:47:16.854775806Z": Infinity - 1,
		"1677-09-21T00:12:43.145224194Z": -Infinity + 1, "infinity": Infinity, "-infinity": -Infinity,
	} {
		if got, ok := ParseTimestamp(TimestampNS, s); !ok || got != IntKey(want) {
			t.Errorf("%q: %d %v, want %d nanoseconds", s, got, ok, want)
		}
	}
	for _, s := range []string{"2262-04-11T23:47:16.854775807Z", "1677-09-21T00:12:43.145224193Z", "1677-09-21T00:12:43.145224192Z", "2300-01-01", "9999-12-31", "1970-01-01 00:00:01.0000000001"} {
		if got, ok := ParseTimestamp(TimestampNS, s); ok || !IsTime(s) {
			t.Errorf("%q: %d, want none", s, got)
		}
	}
	for _, s := range []string{
		"294247-01-10T04:00:54.775807Z", "-290308-12-21T19:59:05.224193Z", "-290308-12-21T19:59:05.224192Z", "5000000-01-01", "2001-02-03 04:05:06.1234567891", "1969-12-31 23:59:59.9999999", "12345678-01-01", "--2001-01-01", "infinit",
		"", "2001", "2001-02", "2001-2-3", "2001-02-29", "1900-02-29", "2001-13-01", "2001-00-01", "2001-04-31", "2001-01-00",
		"2001-02-03 ", "2001-02-03X04:05", "2001-02-03 04", "2001-02-03 24:00", "2001-02-03 04:60", "2001-02-03 04:05:60",
		"2001-02-03 04:05:06.", "2001-02-03 04:05:06.x", "2001-02-03 04:05 Z", "2001-02-03 04:05+1", "2001-02-03 04:05+01:", "2001-02-03 04:05Zx",
		"2001/02/03", "20010203", "+001-02-03", "200a-02-03", "12:34", "2001-02-03 04:05:06 UTC",
	} {
		if got, ok := ParseTimestamp(Timestamp, s); ok {
			t.Errorf("%q: %d, want none", s, got)
		}
	}
}

// TestParseTimestampTime compares with package time, from the year 0 to 9999.
func TestParseTimestampTime(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	first, last := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro(), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).UnixMicro()
	for range 20000 {
		want := first + rng.Int64N(last-first)
		s := time.UnixMicro(want).UTC().Format(time.RFC3339Nano)
		if got, ok := ParseTimestamp(Timestamp, s); !ok || got != IntKey(want) {
			t.Fatalf("%q: %d %v, want %d", s, got, ok, want)
		}
	}
}

// TestLastDays reads the last day of each month and the day behind it, in all years in which the rule of
// leap years repeats, before and behind the years of four digits too. Package time is the oracle.
func TestLastDays(t *testing.T) {
	for year := -801; year < 10_801; year++ {
		sign, number := "", year
		if year < 0 {
			sign, number = "-", -year
		}
		for month := time.January; month <= time.December; month++ {
			last := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC)
			s := fmt.Sprintf("%s%04d-%02d-", sign, number, month)
			if got, ok := ParseTimestamp(Timestamp, s+fmt.Sprint(last.Day())); !ok || got != IntKey(last.UnixMicro()) {
				t.Fatalf("%s%d: %d %v, want %d", s, last.Day(), got, ok, last.UnixMicro())
			}
			if got, ok := ParseTimestamp(Timestamp, s+fmt.Sprint(last.Day()+1)); ok {
				t.Fatalf("%s%d: %d, want none", s, last.Day()+1, got)
			}
		}
	}
}

// TestZones reads all zones of two digits for hours and minutes.
func TestZones(t *testing.T) {
	for _, sign := range []int64{1, -1} {
		for hours := range int64(100) {
			for minutes := range int64(100) {
				for _, colon := range []string{":", ""} {
					s := fmt.Sprintf("1970-01-01 00:00%c%02d%s%02d", ",+-"[(3+sign)%3], hours, colon, minutes)
					got, ok := ParseTimestamp(Timestamp, s)
					if want := -sign * 60e6 * (60*hours + minutes); ok != (hours < 24 && minutes < 60) || ok && got != IntKey(want) {
						t.Fatalf("%s: %d %v, want %d", s, got, ok, want)
					}
				}
			}
		}
	}
}

// TestFinerThanNanoseconds: any digit behind the ninth makes a time finer than its type.
func TestFinerThanNanoseconds(t *testing.T) {
	for text, want := range map[string]bool{"2001-02-03 04:05:06.1234567890": true, "2001-02-03 04:05:06.12345678900000": true, "2001-02-03 04:05:06.12345678901": false, "2001-02-03 04:05:06.12345678901000": false, "2001-02-03 04:05:06.1234567891": false} {
		if _, ok := ParseTimestamp(TimestampNS, text); ok != want {
			t.Errorf("%s: %t, want %t", text, ok, want)
		}
	}
}
