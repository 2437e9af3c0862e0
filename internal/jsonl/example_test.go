package jsonl_test

import (
	"fmt"
	"os"
	"path/filepath"

	"banyan/internal/jsonl"
)

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "new", "log.jsonl")

	log, err := jsonl.Create(path, jsonl.Options{}) // nothing on the disk yet
	if err != nil {
		fmt.Println(err)
		return
	}
	pos, err := log.Append([]byte(`{"n":1}`), []byte(`{"n":2}`)) // durable when it returns
	fmt.Println(pos, err)
	line, err := log.ReadAt(pos[1])
	fmt.Println(string(line), err)
	fmt.Println(log.Close())

	// Output:
	// [{0 7} {8 7}] <nil>
	// {"n":2} <nil>
	// <nil>
}
