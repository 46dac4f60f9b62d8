// Package plan is the language that the engine and its backends speak: which
// lists there are (Source), what is asked of them (Batch, Formulas), what came out
// (Results), and what a backend must be able to do (Backend, Store).
//
// A backend never learns what a term, a file or a flag is: lists are handles.
// The engine never learns what a device is: it sees Info and Stats.
package plan
