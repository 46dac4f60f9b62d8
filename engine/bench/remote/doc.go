// Package remote measures a server under load, for "heddle load".
//
// Queries arrive as a Poisson process at a given rate, whether the server has answered earlier ones
// or not. A latency begins at the moment at which the query should be sent, so that a slow server
// cannot slow down the load and hide the waiting time of its clients. A sweep finds the highest rate
// that the server sustains.
package remote
