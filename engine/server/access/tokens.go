package access

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"heddle/engine/syntax/pattern"
)

// Role is the right of a caller. A higher role includes all lower roles.
type Role uint8

const (
	None  Role = iota // the probes of the server
	Read              // queries, descriptions and metrics
	Admin             // administration
)

var roleNames = [...]string{"none", "read", "admin"}

func (r Role) String() string { return roleNames[r] }

// ParseRole returns the role "read" or "admin".
func ParseRole(text string) (Role, error) {
	for _, r := range []Role{Read, Admin} {
		if r.String() == text {
			return r, nil
		}
	}
	return None, fmt.Errorf("role %q: want read or admin", text)
}

// Tokens are the tokens that a server accepts. It is safe for concurrent use.
type Tokens struct{ all []token }

type token struct {
	name string
	role Role
	hash [sha256.Size]byte
}

var tokenName = pattern.New(`^[A-Za-z0-9._@-]{1,64}$`)

// NewToken returns a random token, and its line in a file of tokens. The line has a hash in place
// of the token.
func NewToken(name string, role Role) (secret, line string, err error) {
	if !tokenName().MatchString(name) {
		return "", "", fmt.Errorf("name %q: want 1 to 64 letters, digits, dots, dashes, underscores and @", name)
	}
	secret = "heddle_" + rand.Text() + rand.Text()
	return secret, fmt.Sprintf("%s %s %x\n", name, role, sha256.Sum256([]byte(secret))), nil
}

// ReadTokens reads a file of tokens: on each line a name, a role, and the SHA-256 hash of the
// token in hexadecimal. Empty lines and lines that begin with # do not count. Errors begin with
// the name of the file and the number of the line.
func ReadTokens(r io.Reader, file string) (*Tokens, error) {
	t := &Tokens{}
	lines := bufio.NewScanner(r)
	for number := 1; lines.Scan(); number++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		one, err := parseToken(text)
		if err == nil && t.has(one.name) {
			err = fmt.Errorf("field 1: an earlier line has the name %s", one.name)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", file, number, err)
		}
		t.all = append(t.all, one)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(t.all) == 0 {
		return nil, fmt.Errorf("%s: no token; heddle serve token NAME prints one", file)
	}
	return t, nil
}

func parseToken(text string) (t token, err error) {
	fields := strings.Fields(text)
	if len(fields) != 3 {
		return t, fmt.Errorf("want a name, a role and a hash, found %d fields", len(fields))
	}
	if t.name = fields[0]; !tokenName().MatchString(t.name) {
		return t, fmt.Errorf("field 1: name %q: want letters, digits, dots, dashes, underscores and @", t.name)
	}
	if t.role, err = ParseRole(fields[1]); err != nil {
		return t, fmt.Errorf("field 2: %w", err)
	}
	if hex.DecodedLen(len(fields[2])) != len(t.hash) {
		return t, fmt.Errorf("field 3: want %d hexadecimal digits, found %d characters", hex.EncodedLen(len(t.hash)), len(fields[2]))
	}
	if _, err = hex.Decode(t.hash[:], []byte(fields[2])); err != nil {
		return t, fmt.Errorf("field 3: %w", err)
	}
	return t, nil
}

func (t *Tokens) has(name string) bool {
	for i := range t.all {
		if t.all[i].name == name {
			return true
		}
	}
	return false
}

// Find returns the name and the role of a token; None if it is unknown. Its time does not depend
// on the token.
func (t *Tokens) Find(secret string) (name string, role Role) {
	hash := sha256.Sum256([]byte(secret))
	for i := range t.all {
		if one := &t.all[i]; subtle.ConstantTimeCompare(hash[:], one.hash[:]) == 1 {
			name, role = one.name, one.role
		}
	}
	return name, role
}
