// Package config is where things are and what the user has set: folders,
// settings, and later keys, themes, trust and credentials, as plain structs read
// from files. It decides nothing.
package config
