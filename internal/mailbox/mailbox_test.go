package mailbox

import (
	"sync"
	"testing"
)

// Whatever many put is taken once, and what one put in its order.
func TestBox(t *testing.T) {
	const putters, each = 8, 1000
	b := New[[2]int]()
	var all sync.WaitGroup
	for p := range putters {
		all.Go(func() {
			for i := range each {
				b.Put([2]int{p, i})
			}
		})
	}
	var next [putters]int
	for taken := 0; taken < putters*each; {
		<-b.Wake
		for _, item := range b.Take() {
			if item[1] != next[item[0]] {
				t.Fatalf("%d of %d came, not %d", item[1], item[0], next[item[0]])
			}
			next[item[0]]++
			taken++
		}
	}
	all.Wait()
	if rest := b.Take(); len(rest) != 0 {
		t.Errorf("%v twice", rest)
	}
}
