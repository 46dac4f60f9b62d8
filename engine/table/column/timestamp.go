package column

import (
	"strings"
	"time"
)

// ParseTimestamp reads a time of a file or predicate into the key of a Timestamp or
// TimestampNS: a date, 2001-02-03; optionally T or a blank and a time, 04:05 or 04:05:06
// or 04:05:06.789; optionally a zone, Z or +01:00 or +0100 or +01. The default zone is
// UTC. A year has four to seven digits, and may have a sign: the year 0 is 1 BC. The texts
// infinity and -infinity are times. ok is false for a time outside of the range of the
// type, and for a time between two of its values.
func ParseTimestamp(t Type, s string) (key uint64, ok bool) {
	p, ok := timePlace(t, s)
	return p.key, ok && p.side == 0
}

// timePlace gives the place of a time among the keys of a Timestamp or TimestampNS.
func timePlace(t Type, s string) (_ place, ok bool) {
	switch {
	case s == "" || s[len(s)-1]|0x20 != 'y': // the usual case
	case strings.EqualFold(s, "infinity"), strings.EqualFold(s, "+infinity"):
		return place{IntKey(Infinity), 0}, true
	case strings.EqualFold(s, "-infinity"):
		return place{IntKey(-Infinity), 0}, true
	}
	at, ok := parseTime(s)
	per := int64(time.Second / t.unit())
	n, side := at.nanos/int64(t.unit()), 0
	if at.finer || at.nanos%int64(t.unit()) != 0 {
		side = 1
	}
	switch {
	case at.seconds > Infinity/per, at.seconds == Infinity/per && n >= Infinity%per:
		return place{IntKey(Infinity), -1}, ok
	case at.seconds < -Infinity/per-1, at.seconds == -Infinity/per-1 && n <= per-Infinity%per:
		return place{IntKey(-Infinity), 1}, ok
	}
	return place{IntKey(per*at.seconds + n), side}, ok
}

// IsTime reports whether a text is a time of any year and precision.
func IsTime(s string) bool {
	_, ok := timePlace(TimestampNS, s)
	return ok
}

// unit is the unit of a Timestamp or TimestampNS.
func (t Type) unit() time.Duration {
	if t == TimestampNS {
		return time.Nanosecond
	}
	return time.Microsecond
}

// instant is a time of any year.
type instant struct {
	seconds int64 // since 1970
	nanos   int64 // nanoseconds behind the second, rounded down
	finer   bool  // it lies between nanoseconds
}

// parseTime reads a time of any year.
func parseTime(s string) (at instant, ok bool) {
	p := stamp{s, true}
	year := p.year()
	p.skip('-')
	month := p.number(2, 1, 12)
	p.skip('-')
	day := p.number(2, 1, daysIn(year, month))
	at.seconds = 86400 * days(year, month, day)
	if p.s == "" {
		return at, p.ok
	}
	if !p.take('T') && !p.take('t') {
		p.skip(' ')
	}
	at.seconds += 3600 * p.number(2, 0, 23)
	p.skip(':')
	at.seconds += 60 * p.number(2, 0, 59)
	if p.take(':') {
		at.seconds += p.number(2, 0, 59)
		if p.take('.') {
			at.nanos, at.finer = p.fraction()
		}
	}
	at.seconds -= p.zone()
	return at, p.ok && p.s == ""
}

// stamp is the rest of a text; ok is false after a syntax error.
type stamp struct {
	s  string
	ok bool
}

// take removes c if it comes next.
func (p *stamp) take(c byte) bool {
	if p.s == "" || p.s[0] != c {
		return false
	}
	p.s = p.s[1:]
	return true
}

func (p *stamp) skip(c byte) {
	if !p.take(c) {
		p.ok = false
	}
}

// number reads a number of the given number of digits.
func (p *stamp) number(digits int, least, greatest int64) (v int64) {
	if len(p.s) < digits {
		p.ok = false
		return least
	}
	for i := range digits {
		d := p.s[i] - '0'
		p.ok = p.ok && d <= 9
		v = 10*v + int64(d)
	}
	p.s = p.s[digits:]
	if v < least || v > greatest {
		p.ok = false
		return least
	}
	return v
}

// year reads a year of four to seven digits, with or without a sign.
func (p *stamp) year() int64 {
	before := p.take('-')
	if !before {
		p.take('+')
	}
	digits := 0
	for digits < min(len(p.s), 7) && p.s[digits]-'0' <= 9 {
		digits++
	}
	year := p.number(max(digits, 4), 0, 9_999_999)
	if before {
		return -year
	}
	return year
}

// fraction reads the digits behind a point, one at least, as nanoseconds. finer reports a
// part of a nanosecond.
func (p *stamp) fraction() (nanos int64, finer bool) {
	n := 0
	for ; n < len(p.s) && p.s[n]-'0' <= 9; n++ {
		if n < 9 {
			nanos = 10*nanos + int64(p.s[n]-'0')
		} else {
			finer = finer || p.s[n] != '0'
		}
	}
	p.ok = p.ok && n > 0
	p.s = p.s[n:]
	for ; n < 9; n++ {
		nanos *= 10
	}
	return nanos, finer
}

// zone reads the optional zone behind a time, in seconds east of UTC.
func (p *stamp) zone() (seconds int64) {
	if p.s == "" || p.take('Z') || p.take('z') {
		return 0
	}
	west := p.take('-')
	if !west {
		p.skip('+')
	}
	seconds = 3600 * p.number(2, 0, 23)
	if p.take(':') || p.s != "" {
		seconds += 60 * p.number(2, 0, 59)
	}
	if west {
		return -seconds
	}
	return seconds
}

func daysIn(year, month int64) int64 {
	switch {
	case month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0):
		return 29
	case month == 2:
		return 28
	case month == 4 || month == 6 || month == 9 || month == 11:
		return 30
	}
	return 31
}

// days is the number of days from 1970-01-01 to a day. Years are counted from March on,
// so that the day that leap years have is the last, in eras of 400 years.
func days(year, month, day int64) int64 {
	const before = 25_000 // eras that are added, so that no year is negative
	if month <= 2 {
		year--
		month += 12
	}
	year += 400 * before
	ofYear := (153*(month-3)+2)/5 + day - 1
	return 365*year + year/4 - year/100 + year/400 + ofYear - 719468 - 146097*before
}
