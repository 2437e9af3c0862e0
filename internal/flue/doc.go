// Package flue turns sessions of Flue (SessionData, version 3) and of PyFlue
// (version 2) into ours, and ours into Flue's.
//
// Their entries are made as ours are: a type, an id, a parent, a time, and the
// same messages, compactions and branch summaries, so a session goes over entry
// by entry, unknown fields included. What Flue has no entries for (labels, names,
// changes of the model, commands that the user ran) stands in its metadata, under
// the key "banyan", and comes back from there; what only Flue has stands in an
// entry of the customType "banyan.flue".
package flue
