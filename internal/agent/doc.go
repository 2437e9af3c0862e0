// Package agent runs one turn: model, tools, model, until the model has nothing
// more to ask for. It stores nothing and draws nothing: everything that happens
// goes out through emit, which returns when it has been taken care of.
package agent
