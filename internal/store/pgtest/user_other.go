//go:build !unix

package pgtest

import "os/exec"

func standBack(string) (as func(*exec.Cmd), err error) { return func(*exec.Cmd) {}, nil }
