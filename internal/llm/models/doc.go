// Package models is the table of models: context windows, limits, prices and
// how each is asked to reason. It is embedded with the date of its figures,
// extended by the user's models.json, and by what servers list.
//
// What the table does not know stays unknown: a price that is missing is not
// zero. It talks to nobody and chooses nothing; see the package provider.
package models
