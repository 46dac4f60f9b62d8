package build

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// TestLeftOut counts documents over chunks, the most frequent member first.
func TestLeftOut(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, `{"id":"%d","text":"x","url":"u"`, i)
		if i%10 == 0 {
			b.WriteString(`,"lang":"de"`)
		}
		b.WriteString("}\n")
	}
	opt := DefaultOptions()
	opt.MemoryLimit, opt.Workers = 1, 1 // a worker takes several chunks
	_, sum := mustBuild(t, opt, save(t, map[string][]byte{"a.jsonl": []byte(b.String())})...)
	if want := []LeftOut{{"url", 5000}, {"lang", 500}}; !reflect.DeepEqual(sum.LeftOut, want) {
		t.Errorf("%+v, want %+v", sum.LeftOut, want)
	}
}

// TestManyLeftOut: the counts take little memory for any number of names.
func TestManyLeftOut(t *testing.T) {
	var b strings.Builder
	for i := range 1050 {
		fmt.Fprintf(&b, `{"text":"x","m%d":"u"}`+"\n", i)
	}
	opt := DefaultOptions()
	opt.Workers = 1
	_, sum := mustBuild(t, opt, save(t, map[string][]byte{"a.jsonl": []byte(b.String())})...)
	if len(sum.LeftOut) != 1001 || sum.LeftOut[0] != (LeftOut{"…", 50}) {
		t.Errorf("%d members, first %+v", len(sum.LeftOut), sum.LeftOut[0])
	}
}

// TestMemberNames: a path has no empty part, and * stands alone.
func TestMemberNames(t *testing.T) {
	for _, members := range [][]string{{""}, {"a..b"}, {"*", "a"}} {
		opt := DefaultOptions()
		opt.Text = members
		if _, err := buildBytes(t, opt, "a.jsonl", []byte("{}")); err == nil || !strings.Contains(err.Error(), "names no member") {
			t.Errorf("%q: %v", members, err)
		}
	}
}
