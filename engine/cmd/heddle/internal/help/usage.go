package help

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Usage prints the use, examples, commands, flags and topics of a command. Cobra's own function has no width, and its
// templates keep all methods of all types in the program.
func Usage(c *cobra.Command) error {
	var b strings.Builder
	b.WriteString("Usage:")
	if c.Runnable() {
		fmt.Fprintf(&b, "\n  %s", c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n  %s [command]", c.CommandPath())
	}
	if c.HasExample() {
		fmt.Fprintf(&b, "\n\nExamples:\n%s", c.Example)
	}
	list := func(title string, name func(*cobra.Command) string, width int, is func(*cobra.Command) bool) {
		for _, sub := range c.Commands() {
			if is(sub) {
				fmt.Fprintf(&b, "%s\n  %-*s %s", title, width, name(sub), sub.Short)
				title = ""
			}
		}
	}
	if all := c.Commands(); len(all) > 0 {
		list("\n\nAvailable Commands:", (*cobra.Command).Name, all[0].NamePadding(), func(sub *cobra.Command) bool { return sub.IsAvailableCommand() || sub.Name() == "help" })
	}
	flags := func(title string, fs *pflag.FlagSet) {
		if fs.HasAvailableFlags() {
			fmt.Fprintf(&b, "\n\n%s:\n%s", title, strings.TrimRight(fs.FlagUsagesWrapped(Width), " \n"))
		}
	}
	flags("Flags", c.LocalFlags())
	flags("Global Flags", c.InheritedFlags())
	if all := c.Commands(); len(all) > 0 {
		list("\n\nAdditional help topics:", (*cobra.Command).CommandPath, all[0].CommandPathPadding(), (*cobra.Command).IsAdditionalHelpTopicCommand)
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n\nUse \"%s [command] --help\" for more information about a command.", c.CommandPath())
	}
	_, err := fmt.Fprintln(c.OutOrStderr(), b.String())
	return err
}
