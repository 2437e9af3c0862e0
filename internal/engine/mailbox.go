package engine

import "sync"

// mailbox is an unbounded queue between two goroutines: putting never blocks.
// The lock is held for an append or a swap only.
type mailbox[T any] struct {
	mu    sync.Mutex
	items []T
	// wake has a token while items may be waiting.
	wake chan struct{}
}

func newMailbox[T any]() *mailbox[T] {
	return &mailbox[T]{wake: make(chan struct{}, 1)}
}

func (b *mailbox[T]) put(item T) {
	b.mu.Lock()
	b.items = append(b.items, item)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// take empties the box, oldest first.
func (b *mailbox[T]) take() []T {
	b.mu.Lock()
	defer b.mu.Unlock()
	items := b.items
	b.items = nil
	return items
}
