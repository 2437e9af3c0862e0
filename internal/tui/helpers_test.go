package tui_test

import "context"

type contextT = context.Context

var errContextCanceled = context.Canceled
