package build

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"heddle/engine/index/build/records"
	"heddle/engine/index/hdl"
)

// TestStoredMembers: the text of a stored source is the text that was indexed, whatever members have it and the name.
func TestStoredMembers(t *testing.T) {
	for _, test := range []struct {
		text, attributes []string
		want             string
	}{
		{nil, []string{"summary"}, "b"}, {nil, nil, "s\nb"}, {[]string{"summary", "n"}, nil, "s\n7"}, {[]string{"*"}, nil, "b\ns\nobject"},
	} {
		opt := DefaultOptions()
		opt.Store, opt.ID, opt.Text, opt.Attributes = hdl.StoreSource, "url", test.text, test.attributes
		path, _, err := buildAt(t, opt, save(t, map[string][]byte{"a.jsonl": []byte(`{"url":"u","body":"b","summary":"s","n":7,"id":{"of":"object"}}`)})...)
		if err != nil {
			t.Fatal(err)
		}
		f, err := hdl.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if got, err := records.TextOf(f, 0); err != nil || got != test.want {
			t.Errorf("text %q, attributes %q: %q, %v, want %q", test.text, test.attributes, got, err, test.want)
		}
	}
}

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
