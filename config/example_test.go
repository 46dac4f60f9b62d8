package config

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

var update = flag.Bool("update", false, "rewrite heddle.example.toml from the table of keys")

const exampleFile = "heddle.example.toml"

// example returns the required content of the example file: every key with its
// documentation and its default.
func example() []byte {
	var b bytes.Buffer
	b.WriteString(`# Configuration of heddle, with every key at its default.
#
# heddle reads the file named by --config, or else by HEDDLE_CONFIG. A key
# "name" of [section] can also be set by the variable HEDDLE_SECTION_NAME, and
# many by a flag: defaults < this file < environment < flags.
# "heddle config print" shows the values in force and their origins.
#
# Sizes are bytes, or text with a unit: "64KiB", "512MiB", "2GB".
`)
	section := ""
	for _, k := range Keys() {
		if k.Section() != section {
			section = k.Section()
			fmt.Fprintf(&b, "\n[%s]\n", section)
		}
		fmt.Fprintf(&b, "\n# %s\n", strings.ReplaceAll(k.Doc, "\n", "\n# "))
		if k.Values != nil {
			fmt.Fprintf(&b, "# One of: %s.\n", strings.Join(k.Values, ", "))
		}
		fmt.Fprintf(&b, "%s\n", k.assignment(Default()))
	}
	return b.Bytes()
}

func TestExampleFile(t *testing.T) {
	want := example()
	if *update {
		if err := os.WriteFile(exampleFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(exampleFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("%s does not follow the table of keys: run go test ./config -update", exampleFile)
	}

	c, err := Load(Sources{File: exampleFile})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(got), "\n")
	for _, k := range Keys() {
		if k.Get(c) != k.Get(Default()) {
			t.Errorf("%s = %v in the example, default %v", k.Name, k.Get(c), k.Get(Default()))
		}
		o := c.Origin(k.Name)
		if o.Kind != FromFile || o.Name != exampleFile || !strings.HasPrefix(lines[o.Line-1], k.Name[len(k.Section())+1:]+" = ") {
			t.Errorf("%s: origin %+v, which is line %q", k.Name, o, lines[o.Line-1])
		}
	}

	var tree map[string]map[string]any
	if _, err := toml.Decode(string(got), &tree); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, section := range tree {
		n += len(section)
	}
	if n != len(Keys()) {
		t.Errorf("%d keys in the example, %d in the table", n, len(Keys()))
	}
}

// TestEveryFieldHasAKey changes each field of the struct in turn and checks that exactly
// one key of its section changes.
func TestEveryFieldHasAKey(t *testing.T) {
	typ := reflect.TypeFor[Config]()
	fields := 0
	for i := range typ.NumField() {
		section := typ.Field(i)
		if !section.IsExported() {
			continue
		}
		for j := range section.Type.NumField() {
			fields++
			c := Default()
			f := reflect.ValueOf(c).Elem().Field(i).Field(j)
			switch f.Kind() {
			case reflect.String:
				f.SetString("changed")
			case reflect.Bool:
				f.SetBool(!f.Bool())
			case reflect.Int, reflect.Int64:
				f.SetInt(f.Int() + 1)
			case reflect.Float64:
				f.SetFloat(f.Float() + 1)
			case reflect.Uint64:
				f.SetUint(f.Uint() + 1)
			default:
				t.Fatalf("%s.%s is of a kind that no key has", section.Name, section.Type.Field(j).Name)
			}
			var seen []string
			for _, k := range Keys() {
				if k.Get(c) != k.Get(Default()) {
					seen = append(seen, k.Name)
				}
			}
			want := strings.ToLower(section.Name) + "." + snake(section.Type.Field(j).Name)
			if len(seen) != 1 || seen[0] != want {
				t.Errorf("field %s.%s is seen by %q, want by %s alone", section.Name, section.Type.Field(j).Name, seen, want)
			}
		}
	}
	if fields != len(Keys()) {
		t.Errorf("%d fields, %d keys", fields, len(Keys()))
	}
}

func snake(s string) string {
	var b strings.Builder
	for i, r := range s {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteString(strings.ToLower(string(r)))
	}
	return b.String()
}

func TestTableOfKeys(t *testing.T) {
	seen := map[string]bool{}
	done := map[string]bool{}
	section := ""
	for _, k := range Keys() {
		if seen[k.Name] || seen[k.Variable()] {
			t.Errorf("%s stands twice", k.Name)
		}
		seen[k.Name], seen[k.Variable()] = true, true
		if strings.Count(k.Name, ".") != 1 || k.Name != strings.ToLower(k.Name) {
			t.Errorf("%q is not section.key in lower case", k.Name)
		}
		if s := k.Section(); s != section {
			if done[s] {
				t.Errorf("section %s is torn apart at %s", s, k.Name)
			}
			done[s], section = true, s
		}
		if k.Summary() == "" || !strings.ContainsAny(k.Summary()[len(k.Summary())-1:], ".") {
			t.Errorf("%s: summary %q is no sentence", k.Name, k.Summary())
		}
		for line := range strings.SplitSeq(k.Doc, "\n") {
			if len(line) > 88 || line != strings.TrimSpace(line) {
				t.Errorf("%s: line %q is too long or indented", k.Name, line)
			}
		}
		// Every default must pass its own check, in text as well as in the file.
		if err := k.setText(Default(), k.Default()); err != nil {
			t.Errorf("default of %s: %v", k.Name, err)
		}
		if isReserved(k.Variable()) {
			t.Errorf("%s is a reserved variable", k.Variable())
		}
	}
}
