package plan

import (
	"strings"
	"testing"
)

// threeSelections is valid for twoVectors: (0 or 1) checked, not 1 andnot 0, none.
func threeSelections() *SelectBatch {
	s := new(SelectBatch)
	s.Any(0, 1)
	s.Check(1, CodeRange{Lo: 1, Hi: 2}, CodeRange{Lo: 4, Hi: 1 << 40})
	s.End()
	s.Any(1)
	s.Do(StepNot)
	s.Any(0)
	s.Do(StepAndNot)
	s.End()
	s.End()
	return s
}

func TestSelections(t *testing.T) {
	tab := twoVectors(t)
	s := threeSelections()
	for range 2 {
		if err := s.Validate(tab); err != nil {
			t.Fatal(err)
		}
		if s.Len() != 3 || len(s.Selection(0)) != 2 || len(s.Selection(1)) != 4 || len(s.Selection(2)) != 0 {
			t.Fatalf("%d selections: %v", s.Len(), s.Offsets)
		}
		if s.Selection(1)[0] != (Step{Code: StepAny, From: 2, To: 3}) || s.Selection(0)[1] != (Step{Code: StepCheck, Column: 1, To: 2}) {
			t.Fatalf("steps %v", s.Steps)
		}
		room := cap(s.Steps)
		s.Reset()
		if err := s.Validate(tab); err != nil || s.Len() != 0 || cap(s.Steps) != room {
			t.Fatalf("reset: %d selections, room for %d steps of %d, %v", s.Len(), cap(s.Steps), room, err)
		}
		*s = *threeSelections()
	}
	if empty := new(SelectBatch); empty.Validate(tab) != nil || empty.Len() != 0 {
		t.Error("no selection is a valid batch")
	}
	high := new(SelectBatch)
	for range MaxSets {
		high.Any()
	}
	for range MaxSets - 1 {
		high.Do(StepOr)
	}
	high.End()
	if err := high.Validate(tab); err != nil {
		t.Error(err)
	}
}

func TestSelectionsValidate(t *testing.T) {
	tab := twoVectors(t)
	for complaint, spoil := range map[string]func(*SelectBatch){
		"unknown output 3":           func(s *SelectBatch) { s.Output = OutputResident + 1 },
		"strategy 8":                 func(s *SelectBatch) { s.Strategy = numStrategies },
		"do not cover their 6":       func(s *SelectBatch) { s.Offsets[3] = 5 },
		"do not cover":               func(s *SelectBatch) { s.Offsets[0] = 1 },
		"offsets of selection 0":     func(s *SelectBatch) { s.Offsets[1] = 7 },
		"offsets of selection 1":     func(s *SelectBatch) { s.Offsets[2] = 1 },
		"operand 1 is vector 2 of 2": func(s *SelectBatch) { s.Operands[1] = 2 },
		"step 1 names column 2 of 2": func(s *SelectBatch) { s.Steps[1].Column = 2 },
		"code 8":                     func(s *SelectBatch) { s.Steps[0].Code = StepCompare + 1 },
		"takes 0 comparisons":        func(s *SelectBatch) { s.Steps[3] = Step{Code: StepCompare} },
		"compares column 2 of 2": func(s *SelectBatch) {
			s.Steps[3] = Step{Code: StepCompare, To: 1}
			s.Comparisons = []Comparison{{Columns: [2]uint32{1, 2}}}
		},
		"takes 0 to 5 of 4":             func(s *SelectBatch) { s.Steps[0].To = 5 },
		"takes 0 to 3 of 2":             func(s *SelectBatch) { s.Steps[1].To = 3 },
		"takes 3 to 2":                  func(s *SelectBatch) { s.Steps[0].From, s.Steps[0].To = 3, 2 },
		"takes 0 to 1 of 0":             func(s *SelectBatch) { s.Steps[3].To = 1 },
		"step 0 takes 1 sets":           func(s *SelectBatch) { s.Steps[0] = Step{Code: StepNot} },
		"selection 1: step 2 takes 2":   func(s *SelectBatch) { s.Steps[4] = Step{Code: StepOr} },
		"2 sets are left":               func(s *SelectBatch) { s.Steps[5].Code = StepNot },
		"step 1: ranges do not ascend":  func(s *SelectBatch) { s.Ranges[1].Lo = 2 },
		"selection 0: step 1: ranges d": func(s *SelectBatch) { s.Ranges[0].Lo = 3 },
		"a stack of 9 sets": func(s *SelectBatch) {
			for range MaxSets + 1 {
				s.Any(0)
			}
			s.End()
		},
	} {
		s := threeSelections()
		spoil(s)
		if err := s.Validate(tab); err == nil || !strings.Contains(err.Error(), complaint) {
			t.Errorf("%v, want a complaint about %q", err, complaint)
		}
	}
}

func TestStrategyNames(t *testing.T) {
	all := Strategies()
	if len(all) != int(numStrategies)-1 {
		t.Errorf("%d strategies", len(all))
	}
	for _, s := range append(all, StrategyAuto) {
		if got, err := ParseStrategy(s.String()); err != nil || got != s {
			t.Errorf("%q is %v, %v", s.String(), got, err)
		}
	}
	for _, name := range []string{"", "COA", "strategy(3)"} {
		if _, err := ParseStrategy(name); err == nil {
			t.Errorf("%q is a strategy", name)
		}
	}
	if got := numStrategies.String(); got != "strategy(8)" {
		t.Errorf("the name of an unknown strategy is %q", got)
	}
}
