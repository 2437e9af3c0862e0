package tree_test

import (
	"fmt"

	"banyan/internal/tree"
)

// A conversation whose user went back to the first answer and asked something else.
func ExampleOutline() {
	texts := []string{"user: fix the test", "assistant: which one?", "user: all", "assistant: done", "user: the last", "assistant: also done"}
	parents := []tree.Node{tree.None, 0, 1, 2, 1, 4}

	var f tree.Forest
	for i, parent := range parents {
		f.Add(parent, int64(i))
	}
	o := tree.NewOutline(tree.Source{
		View:  f.View(),
		Leaf:  5,
		Class: func(n tree.Node) tree.Class { return []tree.Class{tree.User, 0}[n%2] },
		Text:  func(n tree.Node) string { return texts[n] },
	}, tree.Default, nil)
	draw := func(what string) {
		fmt.Println(what)
		for _, r := range o.Rows(o.Window(20), 20, 80) {
			fmt.Printf("  %s%s\n", r.Prefix, texts[r.Node])
		}
	}

	draw("all")
	o.SetFilter(tree.UserOnly)
	draw("user")
	o.SetFilter(tree.Default)
	for !o.IndexSome(2) {
		// Steps, so that a screen can be drawn in between.
	}
	o.Search("done")
	draw("done")
	// Output:
	// all
	//   user: fix the test
	//   assistant: which one?
	//   ├⊟ user: the last
	//   │     assistant: also done
	//   └⊟ user: all
	//         assistant: done
	// user
	//   user: fix the test
	//   ├─ user: the last
	//   └─ user: all
	// done
	//   assistant: also done
	//   assistant: done
}
