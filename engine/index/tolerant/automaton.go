package tolerant

// behind is an automaton of the text behind a prefix. Its states are 1 + the number of bytes read of the prefix, and
// behind it the states of the automaton.
type behind struct {
	prefix string
	rest   automaton
}

func (a behind) Start() int {
	if a.prefix == "" {
		return a.rest.Start() + 1
	}
	return 1
}

func (a behind) own(state int) int { return state - 1 - len(a.prefix) }

func (a behind) IsMatch(state int) bool {
	return state > len(a.prefix) && a.rest.IsMatch(a.own(state))
}

func (a behind) CanMatch(state int) bool {
	return state > 0 && (state <= len(a.prefix) || a.rest.CanMatch(a.own(state)))
}

func (a behind) Accept(state int, b byte) int {
	if state <= len(a.prefix) {
		if state == 0 || a.prefix[state-1] != b {
			return 0
		}
		if state < len(a.prefix) {
			return state + 1
		}
		return a.rest.Start() + 1 + len(a.prefix)
	}
	return a.rest.Accept(a.own(state), b) + 1 + len(a.prefix)
}

// interval is the terms from low to high; "" is open. The ends belong to it unless open says otherwise.
//
// Its states are 1 for terms inside of it, whatever follows, and else 2 + 4n + the bits of the ends whose first n bytes
// the text equals.
type interval struct {
	low, high string
	open      [2]bool
}

const (
	atLow  = 1
	atHigh = 2
)

func (a interval) Start() int {
	ends := 0
	if a.low != "" {
		ends = atLow
	}
	if a.high != "" {
		ends |= atHigh
	}
	return a.state(0, ends)
}

func (a interval) state(n, ends int) int {
	if ends == 0 {
		return 1
	}
	return 2 + 4*n + ends
}

func (a interval) CanMatch(state int) bool { return state > 0 }

func (a interval) IsMatch(state int) bool {
	if state <= 1 {
		return state == 1
	}
	n, ends := (state-2)/4, (state-2)%4
	return (ends&atLow == 0 || n == len(a.low) && !a.open[0]) && (ends&atHigh == 0 || n < len(a.high) || !a.open[1])
}

func (a interval) Accept(state int, b byte) int {
	if state <= 1 {
		return state
	}
	n, ends := (state-2)/4, (state-2)%4
	if ends&atLow != 0 {
		switch {
		case n == len(a.low) || b > a.low[n]:
			ends &^= atLow
		case b < a.low[n]:
			return 0
		}
	}
	if ends&atHigh != 0 {
		switch {
		case n == len(a.high) || b > a.high[n]:
			return 0
		case b < a.high[n]:
			ends &^= atHigh
		}
	}
	return a.state(n+1, ends)
}
