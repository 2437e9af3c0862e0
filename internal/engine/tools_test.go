package engine

import (
	"slices"
	"strings"
	"testing"

	"banyan/internal/llm"
	"banyan/internal/llm/llmtest"
	"banyan/internal/tool"
)

func toolNames(req llm.Request) (names []string) {
	for _, t := range req.Tools {
		names = append(names, t.Name)
	}
	return names
}

// Tools of other sources join with the next request, in an order that does not
// depend on who came first, and go again; no name is given twice.
func TestToolsOfOtherSources(t *testing.T) {
	w := newWorld(t,
		llmtest.Call("a", "sing", `{}`), llmtest.Text("sung"),
		llmtest.Text("gone"))
	w.engine.Send(SetPermission{Mode: "full"})
	w.engine.Send(SetTools{From: "zoo", Tools: []tool.Tool{w.tool("growl", tool.Execute)}})
	w.engine.Send(SetTools{From: "band", Tools: []tool.Tool{w.tool("sing", tool.Execute), w.tool("look", tool.Read), w.tool("finish", tool.Read)}})
	for _, name := range []string{"look", "finish"} { // one has it; one is kept for who wants a result
		w.until("left out", func(ev Event) bool {
			n, ok := ev.(Notice)
			return ok && strings.Contains(n.Text, name+" of band is left out")
		})
	}
	w.say("sing")
	if got := toolNames(w.model.Requests()[0]); !slices.Equal(got, []string{"look", "change", "run", "sing", "growl"}) {
		t.Errorf("told of %v", got)
	}
	if !slices.Equal(w.ran, []string{"sing {}"}) {
		t.Errorf("ran %v", w.ran)
	}
	w.engine.Send(SetTools{From: "band"})
	w.say("and now")
	if got := toolNames(w.model.Requests()[2]); !slices.Equal(got, []string{"look", "change", "run", "growl"}) {
		t.Errorf("after they went: %v", got)
	}
}
