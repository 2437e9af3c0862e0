// Package mailbox is how something is handed to the goroutine that owns it by
// others that must not wait.
package mailbox

import "sync"

// Box is an unbounded queue: putting never blocks. Make it with [New]. One
// goroutine waits for Wake and takes; any may put. The lock is held for an append
// or a swap only.
type Box[T any] struct {
	// Wake has a token while items may be waiting.
	Wake <-chan struct{}

	wake  chan struct{} // the same
	mu    sync.Mutex
	items []T
}

// New makes an empty box.
func New[T any]() *Box[T] {
	wake := make(chan struct{}, 1)
	return &Box[T]{Wake: wake, wake: wake}
}

// Put adds an item.
func (b *Box[T]) Put(item T) {
	b.mu.Lock()
	b.items = append(b.items, item)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Take empties the box, oldest first.
func (b *Box[T]) Take() []T {
	b.mu.Lock()
	defer b.mu.Unlock()
	items := b.items
	b.items = nil
	return items
}
