package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
)

const (
	// costFormat is the line that measure adds to the output of a test program.
	costFormat = "tally: %f s of CPU time\n"
	// costsShown is the number of packages that printCosts prints.
	costsShown = 10
)

// measured returns the command with option -exec behind -json, so that go test runs each test
// program through measure. A command without -json stays as it is.
func measured(command []string) ([]string, error) {
	i := slices.Index(command, "-json")
	if i < 0 {
		return command, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return slices.Insert(slices.Clone(command), i+1, "-exec='"+self+"' measure"), nil
}

// measure runs a test program and prints the CPU time of the program and of its children. It
// returns the exit status. Go sends SIGQUIT at the time-out, and the program prints its stacks.
func measure(program []string) int {
	cmd := exec.Command(program[0], program[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGQUIT, syscall.SIGTERM)
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "tally:", err)
		return 2
	}
	go func() {
		for s := range signals {
			_ = cmd.Process.Signal(s) // an error tells that the program has ended
		}
	}()
	err := cmd.Wait()
	state := cmd.ProcessState
	fmt.Printf(costFormat, (state.UserTime() + state.SystemTime()).Seconds())
	if err != nil && !state.Exited() {
		fmt.Println(err) // the signal that ended it
	}
	if !state.Exited() {
		return 2
	}
	return state.ExitCode()
}

// cost parses the line of measure.
func cost(pkg, line string) (r result, ok bool) {
	r = result{Action: "cost", Package: pkg, Test: "(package)"}
	_, err := fmt.Sscanf(line, costFormat, &r.Elapsed)
	return r, err == nil
}

// printCosts prints the packages that took the most CPU time, each of them at least a second.
func printCosts(w io.Writer, costs []result) {
	slices.SortStableFunc(costs, func(a, b result) int { return cmp.Compare(b.Elapsed, a.Elapsed) })
	for _, c := range costs[:min(len(costs), costsShown)] {
		if c.Elapsed >= 1 {
			fmt.Fprintf(w, "  %6.1f s of CPU time  %s\n", c.Elapsed, c.Package)
		}
	}
}
