package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// App is a run of the command with its surroundings, so that tests can stand in
// for them. Data goes to Stdout, everything else to Stderr.
type App struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string // NAME=value
}

// Run runs the command line args, without the program's name, and returns the
// exit code. A failure has been reported on Stderr then.
func (a *App) Run(ctx context.Context, args []string) int {
	root := newRoot(a)
	root.SetArgs(append([]string{}, args...)) // nil would mean os.Args
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil {
		fmt.Fprintf(a.Stderr, "%s: %s\n", cmd.CommandPath(), message(ctx, err))
	}
	return exitCode(err)
}

func newRoot(a *App) *cobra.Command {
	root := group("heddle", "Posting lists and bitmaps, lifted: indices, tables, queries, benchmarks",
		`Heddle builds inverted indices and bitmap tables and answers queries on them, on
OpenCL devices and in pure Go, with the same answers everywhere.

Data goes to standard output, progress and messages to standard error, and a
file named - is standard input or output. Exit codes: 0 fine, 1 failed, 2 wrong
usage or configuration, 3 corrupt input, 4 no such device.`,
		newDevices(a),
		newIndex(a),
		newSearch(a),
		newBitmap(a),
		newEval(a),
		newBench(a),
		newTune(a),
		newCalibrate(a),
		newConfig(a),
		newDemo(a),
		newVersion(a),
	)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	return root
}

// group is a command that only holds others.
func group(name, short, long string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: name, Short: short, Long: long, SuggestionsMinimumDistance: 2}
	c.AddCommand(commands...)
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		if near := c.SuggestionsFor(args[0]); len(near) > 0 {
			return usageError{fmt.Errorf("no command %q (nearest: %s)", args[0], strings.Join(near, ", "))}
		}
		return usageError{fmt.Errorf("no command %q", args[0])}
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		c.SetOut(c.ErrOrStderr())
		if err := c.Help(); err != nil {
			return err
		}
		return usageError{fmt.Errorf("a command is missing")}
	}
	return c
}

// options of one command. Validate gets the arguments that are no flags; its
// error is one of usage.
type options interface {
	AddFlags(fs *pflag.FlagSet)
	Validate(args []string) error
	Run(ctx context.Context, a *App) error
}

// command finishes c as one that runs o.
func (a *App) command(c *cobra.Command, o options) *cobra.Command {
	c.Flags().SortFlags = false
	o.AddFlags(c.Flags())
	c.DisableFlagsInUseLine = true
	c.Args = func(_ *cobra.Command, args []string) error {
		if err := o.Validate(args); err != nil {
			return usageError{err}
		}
		return nil
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return o.Run(c.Context(), a) }
	return c
}

// noArguments is the Validate of commands that take flags only.
func noArguments(args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("takes no argument, found %q", args[0])
	}
	return nil
}

// oneArgument is the Validate of commands that work on one file.
func oneArgument(args []string, what string) (string, error) {
	switch len(args) {
	case 0:
		return "", fmt.Errorf("%s is missing", what)
	case 1:
		return args[0], nil
	}
	return "", fmt.Errorf("takes %s only, found %q too", what, args[1])
}
