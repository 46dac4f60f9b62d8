package column

// ParseTimestamp reads a time of a file or predicate into microseconds since
// 1970-01-01T00:00:00Z: a date, 2001-02-03; optionally T or a blank and a time, 04:05 or
// 04:05:06 or 04:05:06.789; optionally a zone, Z or +01:00 or +0100 or +01. The default
// zone is UTC. Digits beyond microseconds are dropped.
func ParseTimestamp(s string) (micros int64, ok bool) {
	p := stamp{s, true}
	year := p.number(4, 0, 9999)
	p.skip('-')
	month := p.number(2, 1, 12)
	p.skip('-')
	day := p.number(2, 1, daysIn(year, month))
	seconds := 86400 * days(year, month, day)
	if p.s == "" {
		return 1e6 * seconds, p.ok
	}
	if !p.take('T') && !p.take('t') {
		p.skip(' ')
	}
	seconds += 3600 * p.number(2, 0, 23)
	p.skip(':')
	seconds += 60 * p.number(2, 0, 59)
	if p.take(':') {
		seconds += p.number(2, 0, 59)
		if p.take('.') {
			micros = p.fraction()
		}
	}
	seconds -= p.zone()
	return 1e6*seconds + micros, p.ok && p.s == ""
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

// number reads so many digits.
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

// fraction reads the digits behind a point, one at least, as microseconds.
func (p *stamp) fraction() (v int64) {
	n := 0
	for ; n < len(p.s) && p.s[n]-'0' <= 9; n++ {
		if n < 6 {
			v = 10*v + int64(p.s[n]-'0')
		}
	}
	p.ok = p.ok && n > 0
	p.s = p.s[n:]
	for ; n < 6; n++ {
		v *= 10
	}
	return v
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
	if month <= 2 {
		year--
		month += 12
	}
	year += 400 // the year 0 may be one before it now
	ofYear := (153*(month-3)+2)/5 + day - 1
	return 365*year + year/4 - year/100 + year/400 + ofYear - 719468 - 146097
}
