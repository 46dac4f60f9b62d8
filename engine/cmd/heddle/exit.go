package main

import (
	"context"
	"errors"
	"strings"

	"heddle/codec"
	"heddle/config"
	"heddle/engine"
	"heddle/engine/index/hdl"
	"heddle/engine/index/querylang"
	"heddle/engine/index/trec"
	"heddle/engine/internal/input"
	"heddle/engine/plan"
	"heddle/engine/table/hdb"
	"heddle/engine/table/read"
)

// Exit codes.
const (
	exitFine    = 0
	exitFailed  = 1
	exitUsage   = 2 // command line or configuration
	exitCorrupt = 3 // bytes of an input that no writer of its format wrote
	exitDevice  = 4 // no such device
)

// usageError is a mistake in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func exitCode(err error) int {
	if err == nil {
		return exitFine
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[*config.Error](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[*read.ColumnError](err); ok { // columns are named by flags
		return exitUsage
	}
	if _, ok := errors.AsType[*trec.Error](err); ok {
		return exitCorrupt
	}
	switch {
	case errors.Is(err, plan.ErrUnsupported), errors.Is(err, plan.ErrTooLarge), // by the backend that was asked for
		errors.Is(err, engine.ErrImpacts): // a scoring for an index that was scored
		return exitUsage
	case errors.Is(err, hdl.ErrCorrupt), errors.Is(err, hdb.ErrCorrupt), errors.Is(err, codec.ErrCorrupt), errors.Is(err, input.ErrCorrupt):
		return exitCorrupt
	case errors.Is(err, plan.ErrNoDevice):
		return exitDevice
	}
	return exitFailed
}

// message is what a person reads of err: one line, but for the log of a failed
// kernel build and the place of an error in a query.
func message(ctx context.Context, err error) string {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return "interrupted"
	}
	if _, ok := errors.AsType[*querylang.SyntaxError](err); ok || errors.Is(err, plan.ErrBuild) {
		return err.Error()
	}
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' }), "; ")
}
