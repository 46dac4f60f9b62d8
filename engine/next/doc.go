// Package engine searches posting lists and bitmap tables on all processors of a machine.
package engine
