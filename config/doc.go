// Package config reads heddle's configuration: one TOML file, environment
// variables and command-line flags become one validated [Config].
//
// Later sources win: defaults, then the file, then the environment, then flags.
// The key "section.key" is key = … under [section] in the file and the variable
// HEDDLE_SECTION_KEY in the environment. An unknown key, an unknown variable
// that looks like a key, or a bad value is an [*Error] that says where it stands
// and names the nearest key; nothing is guessed and nothing is ignored.
//
// One table ([Keys]) drives all of it: reading, environment names, printing,
// flag help and the check of heddle.example.toml. A new setting is a field of
// its section's struct and a line of that table.
//
// The package imports nothing of the project, so the names of codecs and
// algorithms stand here as plain strings; the command's tests check them against
// the packages that define them.
package config
