// Package config is where things are and what the user has set: folders,
// settings, which folders are trusted and which programs of theirs are approved,
// prompt history and drafts, as plain structs read from files.
//
// What it holds comes from four places, later ones before earlier ones:
// <config folder>/settings.json, then .banyan/settings.json and
// .banyan/settings.local.json of a trusted project, then flags. A project's
// files, whoever wrote them, can only tighten. One table ([fields]) says of each
// setting where it lies in [Settings], what it takes, what it is for and whether
// a project has a say; loading, changing, the JSON schema and the documentation
// follow from it.
//
// It decides nothing: it does not know what a model, a key or a theme is, asks
// nobody, and starts nothing. A file that is wrong is never fatal: what is wrong
// is reported as a [Problem] and the rest counts.
package config
