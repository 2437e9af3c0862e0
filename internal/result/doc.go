// Package result makes a model end a run with data that fit a schema. A [Want]
// is the schema; it gives the model two tools, finish and give_up, and the words
// by which a turn is kept going that ends without them. What came of it is an
// [Outcome]: the fold of the run's messages, live or read back.
//
//	want, err := result.Parse(schema)
//	tools = append(tools, want.Tools()...)       // beside the others
//	loop.Ending = want.Ending                    // reminders, and their end
//	outcome := want.Outcome()
//	outcome.Add(message)                         // each that is recorded
//	err = outcome.Err(err)                       // of the turn
//
// That calls fit the schema is seen to where all calls are checked, and so is
// that not too many fail: see [agent.ErrCannotEnd].
package result
