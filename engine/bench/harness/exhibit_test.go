package harness

import (
	"strings"
	"testing"
)

func TestChoose(t *testing.T) {
	all := []Exhibit{{Name: "log"}, {Name: "pairs"}, {Name: "ao-fig5"}, {Name: "wu-fig5"}}
	family := Family{Name: "lists", Exhibits: func(*Runner) []Exhibit { return all }}
	if got, err := choose(all, nil, nil); err != nil || len(got) != len(all) {
		t.Errorf("%d of %d exhibits, %v", len(got), len(all), err)
	}
	got, err := choose(all, []string{" WU-fig5", "ao-fig5"}, []string{"log"})
	if err != nil || len(got) != 3 || got[0].Name != "log" || got[1].Name != "ao-fig5" || got[2].Name != "wu-fig5" {
		t.Errorf("%d exhibits, %v", len(got), err)
	}
	for _, bad := range []Options{{Figures: []string{"log"}}, {Tables: []string{"ao-fig5"}}, {Tables: []string{""}}} {
		if err := family.Check(bad); err == nil || !strings.Contains(err.Error(), "one of ") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if err := family.Check(Options{Tables: []string{"pairs"}}); err != nil {
		t.Error(err)
	}
}
