package access

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestTokens reads the lines of new tokens, and finds these tokens and no other text.
func TestTokens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Za-z0-9._@-]{1,64}`), 1, 5, rapid.ID).Draw(t, "names")
		roles := map[string]Role{}
		secrets := map[string]string{}
		file := "# a comment\n\n"
		for _, name := range names {
			roles[name] = rapid.SampledFrom([]Role{Read, Admin}).Draw(t, "role")
			secret, line, err := NewToken(name, roles[name])
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(line, secret) {
				t.Errorf("line %q has the token", line)
			}
			secrets[name] = secret
			file += line
		}
		all, err := ReadTokens(strings.NewReader(file), "tokens")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if got, role := all.Find(secrets[name]); got != name || role != roles[name] {
				t.Errorf("token of %s: %s %s", name, got, role)
			}
			if got, role := all.Find(secrets[name] + "x"); got != "" || role != None {
				t.Errorf("another text: %s %s", got, role)
			}
		}
	})
}

// TestTokenFaults reads files with faults.
func TestTokenFaults(t *testing.T) {
	hash := strings.Repeat("0", 64)
	for text, want := range map[string]string{
		"":                                     "tokens: no token",
		"# only a comment\n":                   "tokens: no token",
		"\na read":                             "tokens: line 2: want a name, a role and a hash, found 2 fields",
		"a/b read " + hash:                     "tokens: line 1: field 1: name",
		"a write " + hash:                      "tokens: line 1: field 2: role \"write\": want read or admin",
		"a read 00":                            "tokens: line 1: field 3: want 64 hexadecimal digits, found 2 characters",
		"a read x" + hash[1:]:                  "tokens: line 1: field 3: ",
		"a read " + hash + "0":                 "tokens: line 1: field 3: ",
		"a read " + hash + "00":                "tokens: line 1: field 3: want 64 hexadecimal digits, found 66 characters",
		"a read " + hash + "\na admin " + hash: "tokens: line 2: field 1: an earlier line has the name a",
		strings.Repeat("x", 1<<17):             "tokens: ",
	} {
		if _, err := ReadTokens(strings.NewReader(text), "tokens"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
	for _, name := range []string{"", "a b", strings.Repeat("x", 65)} {
		if _, _, err := NewToken(name, Read); err == nil {
			t.Errorf("name %q is accepted", name)
		}
	}
}

// FuzzReadTokens checks that any file is refused, or has tokens with a role each.
func FuzzReadTokens(f *testing.F) {
	f.Add("a read " + strings.Repeat("0", 64) + "\n# b\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := ReadTokens(strings.NewReader(text), "tokens")
		if err != nil {
			return
		}
		var again strings.Builder
		for _, one := range all.all {
			fmt.Fprintf(&again, "%s %s %x\n", one.name, one.role, one.hash)
		}
		if same, err := ReadTokens(strings.NewReader(again.String()), "again"); err != nil || len(same.all) != len(all.all) {
			t.Errorf("%q reads as %q: %v", text, again.String(), err)
		}
	})
}
