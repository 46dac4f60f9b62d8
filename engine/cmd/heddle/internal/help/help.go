// Package help has the texts of "heddle help" beside the texts of the commands, and completes words in shells.
package help

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/codec"
	"heddle/engine"
)

// Width is the greatest length of a line of a help text.
const Width = 100

// topicTexts holds a file a topic of "heddle help": a summary, an empty line, and the text.
//
//go:embed topics
var topicTexts embed.FS

// Topics returns the topics of "heddle help" that are no commands.
func Topics() []*cobra.Command {
	topics := []*cobra.Command{{Use: "codecs", Short: "Codecs of posting lists for --codec", Long: codecsText()}}
	files, err := fs.Glob(topicTexts, "topics/*.txt")
	for _, file := range files {
		var text []byte
		text, err = topicTexts.ReadFile(file)
		summary, long, _ := strings.Cut(string(text), "\n\n")
		name := strings.TrimSuffix(strings.TrimPrefix(file, "topics/"), ".txt")
		topics = append(topics, &cobra.Command{Use: name, Short: summary, Long: strings.Trim(long, "\n")})
	}
	if err != nil {
		panic(err) // only the files in the program can cause it
	}
	return topics
}

func codecsText() string {
	var b strings.Builder
	b.WriteString(`auto gives each list the codec with the lowest cost of size and time, which heddle index info
shows. Any other codec stores the lists that it makes smaller than raw; the other lists are raw.
auto does not choose the codecs with a star: a device reads their segments value after value.

`)
	for _, id := range codec.IDs() {
		d := id.Describe()
		name := d.Name
		if !d.Auto {
			name += " *"
		}
		fmt.Fprintf(&b, "  %-11s %s\n", name, d.Stores)
		if d.Alias != "" {
			fmt.Fprintf(&b, "  %11s its other name is %s\n", "", d.Alias)
		}
		if d.UsesLevels {
			fmt.Fprintf(&b, "  %11s %s0 to %s%d have this number of levels of exceptions; %s has 1\n", "", d.Name, d.Name, codec.MaxRPFDLevels, d.Name)
		}
		if d.Source != "" {
			fmt.Fprintf(&b, "  %11s (%s)\n", "", d.Source)
		}
	}
	return b.String() + "\n--dense auto stores lists of more than one document in 32 as bitsets."
}

// Command replaces cobra's command, which takes an unknown topic for no topic.
func Command() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND|TOPIC]",
		Short:   "Explain a command or a topic",
		Long:    "Help explains a command or a topic. \"heddle help\" lists them.",
		Example: "  heddle help search\n  heddle help query-language",
		RunE: func(c *cobra.Command, args []string) error {
			found, rest, err := c.Root().Find(args)
			switch {
			case err != nil:
				return usage(err)
			case len(rest) > 0 && found.HasSubCommands():
				return found.Args(found, rest)
			case len(rest) > 0:
				return usage(fmt.Errorf("%s has no command %q", found.CommandPath(), rest[0]))
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
			if found, rest, err := c.Root().Find(args); err == nil && len(rest) == 0 {
				for _, sub := range found.Commands() {
					if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
						names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// usage returns an error in the command line.
func usage(err error) error { return &engine.Error{Code: engine.InvalidOption, Err: err} }

// Complete lets the shell complete the values of flags that take one of some names.
func Complete(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if v, ok := f.Value.(interface{ Values() []string }); ok && len(v.Values()) > 0 {
			err := c.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(v.Values(), cobra.ShellCompDirectiveNoFileComp))
			if err != nil {
				panic(err) // a second registration
			}
		}
	})
}

// List joins names for a help text: a, b or c.
func List(names []string) string {
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " or " + names[last]
	}
	return strings.Join(names, "")
}
