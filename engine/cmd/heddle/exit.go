package main

import (
	"context"
	"errors"
	"strings"

	"heddle/config"
	"heddle/engine"
	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/index/trec"
	"heddle/engine/plan"
	"heddle/engine/syntax"
	"heddle/engine/table/read"
)

// Exit codes, as in "heddle help exit-codes".
const (
	exitSuccess     = 0
	exitFailure     = 1
	exitUsage       = 2 // invalid command line or configuration
	exitCorrupt     = 3 // malformed or damaged input
	exitDevice      = 4 // no such device
	exitDisk        = 5 // no room on a disk
	exitUnavailable = 6 // no connection to a server or cluster
)

// usageError is an error in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func exitCode(err error) int {
	if err == nil {
		return exitSuccess
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[*config.Error](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[*read.ColumnError](err); ok { // flags name columns
		return exitUsage
	}
	if _, ok := errors.AsType[*trec.Error](err); ok {
		return exitCorrupt
	}
	if unreachable(err) {
		return exitUnavailable
	}
	return engine.CodeOf(err).ExitCode()
}

// message is the text of err for the user, safe for terminals: one line, except for the log
// of a failed kernel build and the position of an error in a query.
func message(ctx context.Context, err error) string {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return "interrupted"
	}
	if _, ok := errors.AsType[*syntax.Error](err); ok || errors.Is(err, plan.ErrBuild) {
		return terminal.Text(err.Error())
	}
	return terminal.Field(strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' }), "; "))
}
