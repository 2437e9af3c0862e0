package rows_test

import (
	"testing"

	"banyan/internal/store"
	"banyan/internal/store/rows"
	"banyan/internal/store/storetest"
)

func TestMemorySuite(t *testing.T) {
	storetest.Run(t, func(testing.TB) storetest.Fixture {
		m := rows.NewMemory()
		return storetest.Fixture{Open: func(testing.TB) store.Store { return m }}
	})
}
