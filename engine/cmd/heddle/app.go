package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/config"
	"heddle/engine/cmd/heddle/internal/flags"
	"heddle/engine/cmd/heddle/internal/help"
	"heddle/engine/cmd/heddle/internal/machine"
	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/file/mapped"
)

// App is one run of the command with its streams and environment, which tests replace.
type App struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	machine.Machine
}

// Run executes the command line args, which excludes the program's name. It prints an
// error to Stderr and returns the exit code.
func (a *App) Run(ctx context.Context, args []string) int {
	first := ""
	if len(args) > 0 {
		first = args[0]
	}
	root := newRoot(a, first)
	root.SetArgs(append([]string{}, args...)) // cobra reads os.Args for nil
	cmd, err := execute(ctx, root)
	if err != nil {
		fmt.Fprintf(a.Stderr, "%s: %s\n", cmd.CommandPath(), message(ctx, err))
	}
	return exitCode(err)
}

// execute runs the command. The fault of a mapped file is an error.
func execute(ctx context.Context, root *cobra.Command) (cmd *cobra.Command, err error) {
	cmd = root
	defer mapped.Catch(mapped.Watch(), &err)
	return root.ExecuteContextC(ctx)
}

// constructor makes a command.
type constructor struct {
	name string
	make func(*App) *cobra.Command
}

func constructors() []constructor {
	return append([]constructor{
		{"devices", newDevices}, {"index", newIndex}, {"search", newSearch}, {"suggest", newSuggest}, {"bitmap", newBitmap}, {"collection", newCollection},
		{"eval", newEval}, {"tune", newTune}, {"calibrate", newCalibrate}, {"config", newConfig}, {"demo", newDemo}, {"version", newVersion}, {"probe", newProbe},
	}, largeCommands...)
}

// newRoot returns the root of the commands: of all, or of the command named first alone, whose start then makes no
// flags of others.
func newRoot(a *App, first string) *cobra.Command {
	root := group("heddle", "Search posting lists and bitmap tables on OpenCL devices and in pure Go",
		`Heddle builds inverted indexes and bitmap tables and answers queries on them, on
OpenCL devices and in pure Go. All backends give identical answers.

Answers go to standard output, messages and progress to standard error. The file
name - means standard input or output. Exit codes: 0 success, 1 failure, 2 wrong
usage or configuration, 3 corrupt input, 4 no such device, 5 full disk, 6 no connection.
The first signal (SIGINT or SIGTERM) interrupts a command in an orderly way, with exit
code 1; a second one ends it at once.`)
	all := constructors()
	if i := slices.IndexFunc(all, func(c constructor) bool { return c.name == first }); i >= 0 {
		all = all[i : i+1]
	}
	for _, c := range all {
		root.AddCommand(c.make(a))
	}
	root.AddCommand(help.Topics()...)
	root.SetHelpCommand(help.Command())
	root.SetUsageFunc(help.Usage)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usageError{flags.Explain(c, err)} })
	return root
}

// group is a command that only contains other commands.
func group(name, short, long string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: name, Short: short, Long: long, SuggestionsMinimumDistance: 2}
	c.AddCommand(commands...)
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		if near := c.SuggestionsFor(args[0]); len(near) > 0 {
			return usageError{fmt.Errorf("unknown command %q (nearest: %s)", args[0], strings.Join(near, ", "))}
		}
		return usageError{fmt.Errorf("unknown command %q", args[0])}
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		c.SetOut(c.ErrOrStderr())
		if err := c.Help(); err != nil {
			return err
		}
		return usageError{errors.New("a command is missing")}
	}
	return c
}

// options are the flags and arguments of one command. Validate receives the arguments;
// its errors are usage errors.
type options interface {
	AddFlags(fs *pflag.FlagSet)
	Validate(args []string) error
	Run(ctx context.Context, a *App) error
}

// command connects c with its options.
func (a *App) command(c *cobra.Command, o options) *cobra.Command {
	c.Flags().SortFlags = false
	o.AddFlags(c.Flags())
	help.Complete(c)
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

// flagsOnly is embedded in the options of commands without arguments.
type flagsOnly struct{}

func (flagsOnly) Validate(args []string) error { return noArguments(args) }

func noArguments(args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("takes no argument, found %q", args[0])
	}
	return nil
}

// oneArgument returns the only argument, which name describes.
func oneArgument(args []string, name string) (string, error) {
	switch len(args) {
	case 0:
		return "", fmt.Errorf("%s is missing", name)
	case 1:
		return args[0], nil
	}
	return "", fmt.Errorf("takes one %s, found also %q", name, args[1])
}

// onePath is embedded in the options of commands on one file.
type onePath struct{ path string }

func (o *onePath) set(args []string, name string) (err error) {
	o.path, err = oneArgument(args, name)
	return err
}

func addJSON(fs *pflag.FlagSet, to *bool) {
	fs.BoolVar(to, "json", false, "print JSON")
}

func addNoProgress(fs *pflag.FlagSet, to *bool) {
	fs.BoolVar(to, "no-progress", false, "hide the progress bar")
}

// print writes v to Stdout, as JSON or as text.
func (a *App) print(v interface{ Write(io.Writer) error }, json bool) error {
	if json {
		return terminal.WriteJSON(a.Stdout, v)
	}
	return v.Write(terminal.Writer(a.Stdout))
}

// progress starts a progress bar on Stderr unless it is hidden.
func (a *App) progress(task string, unit terminal.Unit, total int64, hidden bool) terminal.Progress {
	if hidden {
		return terminal.Progress{}
	}
	return terminal.NewProgress(a.Stderr, task, unit, total)
}

func (a *App) logger(c config.Log) zerolog.Logger {
	return terminal.Logger(a.Stderr, c, a.Getenv("NO_COLOR") == "")
}
