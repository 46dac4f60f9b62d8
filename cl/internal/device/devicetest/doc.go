// Package devicetest opens devices for the tests of operations and makes their drivers fail.
package devicetest
