package config_test

import (
	"slices"
	"testing"

	"banyan/internal/config"
	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/summary"
	"banyan/internal/tree"
)

// The settings know their words and defaults by themselves; these tests hold
// them against the packages that the words are for.
func TestWordsAreThoseOfTheirPackages(t *testing.T) {
	set := func(path, value string) bool {
		_, _, problems := config.Load(config.Paths{Config: t.TempDir()}, "", false, []config.Override{{Path: path, Value: value, Flag: "--x"}})
		return len(problems) == 0
	}
	for _, level := range llm.ThinkingLevels {
		if !set("thinking", string(level)) {
			t.Errorf("the thinking level %s cannot be set", level)
		}
	}
	for _, mode := range engine.Modes {
		if !set("permissions.defaultMode", mode) {
			t.Errorf("the permission mode %s cannot be set", mode)
		}
	}
	first := tree.Default
	for f := first; ; {
		if !set("treeFilter", f.String()) {
			t.Errorf("the filter %s cannot be set", f)
		}
		if f = f.Next(1); f == first {
			break
		}
	}
	if set("permissions.defaultMode", "full") || slices.Contains(engine.Modes, "full") {
		t.Error("a file can turn all questions off")
	}
}

func TestDefaultsAreThoseOfTheirPackages(t *testing.T) {
	s := config.Defaults()
	if s.Compaction.ReserveTokens != summary.DefaultReserve || s.Compaction.KeepRecentTokens != summary.DefaultKeepRecent {
		t.Errorf("compaction %+v", s.Compaction)
	}
	if _, err := tree.ParseFilter(s.TreeFilter); err != nil {
		t.Error(err)
	}
}
