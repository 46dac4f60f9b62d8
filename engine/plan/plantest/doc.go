// Package plantest makes the data of the conformance suite that every plan.Backend
// passes: posting lists, frequencies, bit vectors and codes of all shapes, in
// sound and in damaged form. The cases are in one package for each interface:
//
//   - matchtest for plan.Backend.Load and plan.Store.Match
//   - ranktest for plan.Store.Rank
//   - selecttest for plan.Backend.LoadTable and plan.TableStore
//
// A backend passes if it gives the same bits as package reference for every
// algorithm, every codec and every shape of query. The test of a backend is:
//
//	func TestBackend(t *testing.T) {
//		open := func(t *testing.T) plan.Backend { return mine.New() }
//		matchtest.Run(t, open, plantest.Options{})
//		ranktest.Run(t, open, plantest.Options{})
//		selecttest.Run(t, open, plantest.Options{})
//	}
package plantest
