package permission

import (
	"encoding/json"
	"fmt"
	"strings"

	"banyan/internal/tool"
)

// Explain judges a shell command and says why: the verdict is the first word,
// what decided follows, then each part and what "always" would store.
func (p *Policy) Explain(command string) string {
	args, err := json.Marshal(bashArgs{Command: command})
	if err != nil {
		return fmt.Sprintf("%s: %v\n", Ask, err)
	}
	v := p.Decide(Call{Tool: "bash", Access: tool.Execute, Args: args})
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", v.Action, because(v))
	if len(v.Parts) > 1 {
		for _, part := range v.Parts {
			fmt.Fprintf(&b, "  %-5s  %s  (%s)\n", part.Action, part.Text, because(part.Verdict))
		}
	}
	for _, r := range v.Always {
		fmt.Fprintf(&b, "  always would allow %s\n", r)
	}
	return b.String()
}

func because(v Verdict) string {
	if v.Rule != "" {
		return fmt.Sprintf("by %s of %s", v.Rule, v.Source)
	}
	return fmt.Sprintf("%s: %s", v.Source, v.Reason)
}

// About says whether a rule is about a call, for those who look at rules for
// other reasons than permission. It is also where not all of what a command runs
// can be seen.
func About(w Workspace, r Rule, call Call) bool {
	if !r.names(call.Tool) {
		return false
	}
	r.Action = Deny
	p := New(w, r)
	p.mode = Full
	v := p.Decide(call)
	return v.Rule != "" || call.Tool == "bash" && v.Action != Allow
}
