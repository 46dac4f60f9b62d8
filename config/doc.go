// Package config reads the configuration of heddle: one TOML file, environment
// variables and command-line flags become one validated [Config].
//
// Later sources override earlier ones: defaults, file, environment, flags. The key
// "section.key" is key = … under [section] in the file and the variable
// HEDDLE_SECTION_KEY in the environment. An unknown key, an unknown variable that
// resembles a key, or an invalid value is an [*Error] with its position and the
// nearest key.
//
// One table ([Keys]) determines reading, environment names, printing, flag help and
// heddle.example.toml. A new setting is a field of the struct of its section and a
// row of the table.
//
// The package imports no other package of the project. It repeats the names of
// algorithms and other values as strings; tests of the command compare them with
// the packages that define them.
package config
