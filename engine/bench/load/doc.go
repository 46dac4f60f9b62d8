// Package load puts open-loop loads on an engine and on a server, for "heddle bench schedule" and
// "heddle load", and finds the highest rate that either sustains.
//
// Queries arrive as a Poisson process at a given rate, whether earlier ones have been answered or
// not. A latency begins at the moment at which the query should be sent, so that a slow system
// cannot slow down the load and hide the waiting time of its clients.
package load
