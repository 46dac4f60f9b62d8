//go:build !core

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/server/access"
)

type tokenOptions struct {
	settings
	name, role string
}

func newServeToken(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "token NAME [flags]",
		Short: "Create a token of a caller of heddle serve",
		Long: `Token creates a random token and prints it. Its hash joins the file of tokens (--tokens,
or key server.tokens of the configuration), which is created if it does not exist. The
token itself is stored nowhere. A server that runs accepts it a few seconds later.

A caller sends the header "Authorization: Bearer TOKEN". Role read allows queries; role
admin allows administration, too. To withdraw a token, delete its line.`,
		Example: `  heddle serve token --tokens tokens web-shop
  heddle serve token --tokens tokens --role admin operator`,
	}, &tokenOptions{})
}

func (o *tokenOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.role, "role", "read", "right of the caller: `read|admin`")
	o.Add(fs, "tokens")
}

func (o *tokenOptions) Validate(args []string) (err error) {
	if o.name, err = oneArgument(args, "NAME"); err != nil {
		return err
	}
	_, err = access.ParseRole(o.role)
	return err
}

func (o *tokenOptions) Run(_ context.Context, a *App) error {
	c, _, err := o.load(a)
	if err != nil {
		return err
	}
	if c.Server.Tokens == "" {
		return usageError{errors.New("--tokens FILE is missing")}
	}
	role, err := access.ParseRole(o.role)
	if err != nil {
		return err
	}
	secret, line, err := access.NewToken(o.name, role)
	if err != nil {
		return usageError{err}
	}
	if err := addLine(c.Server.Tokens, line); err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.Stdout, secret)
	return err
}

// addLine adds a line to a file of tokens, which must be sound afterwards. The user of the server may
// be another one, and hashes of random tokens are no secret, so all may read the file.
func addLine(path, line string) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	text, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		line = "\n" + line
	}
	if _, err := access.ReadTokens(strings.NewReader(string(text)+line), path); err != nil {
		return usageError{err}
	}
	if _, err = f.WriteString(line); err != nil {
		return errors.Join(err, f.Truncate(int64(len(text)))) // no part of a line
	}
	return f.Sync()
}
