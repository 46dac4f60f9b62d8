// Package pool runs the jobs of indexes and tables on the processors of an engine. A Pool owns the
// processors and one scheduler. Opened is the life of an index or a table: its generations, which are
// its content from one reload to the next, and its close. A Residence is the store of a generation on a
// processor. Jobs of the scheduler carry a Work, which says how long the job takes on a processor and
// runs it there.
package pool
