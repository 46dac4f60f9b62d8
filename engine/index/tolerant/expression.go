package tolerant

import (
	"errors"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// Bounds of a machine.
const (
	mostBytes        = 1 << 16 // of the expression
	mostInstructions = 1 << 12
	mostStates       = 1 << 14
	mostWork         = 1 << 26 // instructions looked at
)

var errStates = errors.New("the expression needs too many states: write a shorter one")

// machine is the automaton of a regular expression, whose states are made when a term first reaches them. So the time
// for an expression depends on the terms, not on the number of its states.
type machine struct {
	prog   *syntax.Prog
	states []state
	sets   map[string]int  // states by their instructions
	parts  map[partial]int // states inside of a character
	start  int
	work   int
	err    error // too many states: the automaton is incomplete

	seen []int // by instruction: the last step that reached it
	step int
}

// state is a set of instructions that read a character, or is inside of a character.
type state struct {
	set   []uint32
	match bool
	partial
	next [256]int32 // 1 + the state behind a byte; 0: not made
}

// partial is the first bytes of a character behind a state.
type partial struct {
	base  int
	bytes string
}

func newExpression(expr string) (*Words, error) {
	if len(expr) > mostBytes {
		return nil, errStates
	}
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, err
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, err
	}
	if len(prog.Inst) > mostInstructions {
		return nil, errStates
	}
	m := &machine{prog: prog, states: make([]state, 1), sets: map[string]int{}, parts: map[partial]int{}, seen: make([]int, len(prog.Inst))}
	m.start = m.state(func(add func(uint32)) { add(uint32(prog.Start)) })
	return &Words{automaton: m, finite: finite(parsed)}, nil
}

func (m *machine) Start() int          { return m.start }
func (m *machine) IsMatch(s int) bool  { return m.states[s].match }
func (m *machine) CanMatch(s int) bool { return s > 0 }

// full tells whether there may be no further state.
func (m *machine) full() bool {
	if len(m.states) >= mostStates || m.work > mostWork {
		m.err = errStates
	}
	return m.err != nil
}

// Accept returns the state behind a byte.
func (m *machine) Accept(s int, b byte) int {
	if next := m.states[s].next[b]; next > 0 {
		return int(next - 1)
	}
	next := m.behind(s, b)
	m.states[s].next[b] = int32(next + 1)
	return next
}

func (m *machine) behind(s int, b byte) int {
	if m.work > mostWork && m.full() {
		return 0
	}
	text := partial{s, string([]byte{b})}
	if from := m.states[s].partial; from.bytes != "" {
		text = partial{from.base, from.bytes + text.bytes}
	}
	if !utf8.FullRuneInString(text.bytes) {
		next, ok := m.parts[text]
		if !ok {
			if m.full() {
				return 0
			}
			next = len(m.states)
			m.states = append(m.states, state{partial: text})
			m.parts[text] = next
		}
		return next
	}
	r, size := utf8.DecodeRuneInString(text.bytes)
	if size < len(text.bytes) || r == utf8.RuneError && size == 1 {
		return 0
	}
	from := m.states[text.base].set
	return m.state(func(add func(uint32)) {
		for _, pc := range from {
			if inst := &m.prog.Inst[pc]; inst.MatchRune(r) {
				add(inst.Out)
			}
		}
		m.work += len(from)
	})
}

// state returns the state of the instructions that reach adds, and all that follow without a character.
func (m *machine) state(reach func(add func(pc uint32))) int {
	var s state
	m.step++
	var add func(pc uint32)
	add = func(pc uint32) {
		if m.seen[pc] == m.step {
			return
		}
		m.seen[pc] = m.step
		m.work++
		switch inst := &m.prog.Inst[pc]; inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			add(inst.Out)
			add(inst.Arg)
		case syntax.InstCapture, syntax.InstNop:
			add(inst.Out)
		case syntax.InstMatch:
			s.match = true
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			s.set = append(s.set, pc)
		}
	}
	reach(add)
	if len(s.set) == 0 && !s.match {
		return 0
	}
	slices.Sort(s.set)
	name := s.name()
	n, ok := m.sets[name]
	if !ok {
		if m.full() {
			return 0
		}
		n = len(m.states)
		m.states = append(m.states, s)
		m.sets[name] = n
	}
	return n
}

// name tells a state from all states of other instructions.
func (s *state) name() string {
	b := make([]byte, 0, 1+2*len(s.set))
	if s.match {
		b = append(b, 1) // an odd length
	}
	for _, pc := range s.set {
		b = append(b, byte(pc), byte(pc>>8))
	}
	return string(b)
}
