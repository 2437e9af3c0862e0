package importtest

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// defects are faults that programs like this one had, in the order in which they
// were written down, each with the tests that would find it here.
var defects = []struct {
	not   string            // what must not happen
	tests map[string]string // in which file each is
}{
	{"a task is refused because the turn that gives it is running", map[string]string{"TestTask": "internal/engine/task_test.go"}},
	{"an edit without a text to look for hangs; of several matches the first is taken", map[string]string{"TestApplyEditsRefuses": "internal/tool/edit_test.go"}},
	{"the new text of an edit is a pattern; edits at the same time are lost", map[string]string{
		"TestApplyEdits": "internal/tool/edit_test.go", "TestParallelEditsAllLand": "internal/tool/edit_test.go", "TestEditsOfTasksAllLand": "internal/tool/below_test.go",
	}},
	{"nothing is saved before the end of a turn", map[string]string{"TestChatIsOnDiskInTheOrderOfPromises": "internal/engine/engine_test.go"}},
	{"a failed answer is not found again, or is lost, when it is taken off the path", map[string]string{
		"TestBranching": "internal/session/list_test.go", "TestOverflowCompactsOnceAndGoesOn": "internal/engine/engine_test.go",
	}},
	{"a huge result at the end keeps a path from being compacted", map[string]string{"TestHugeResultDoesNotBlock": "internal/summary/summary_test.go"}},
	{"a second compaction that cuts a turn forgets the first summary", map[string]string{"TestEveryMessageIsSummarisedOrKeptOnce": "internal/summary/summary_test.go"}},
	{"pictures count nothing", map[string]string{"TestPicturesCount": "internal/summary/tokens_test.go"}},
	{"a compaction destroys what it summarised, or its summary falls out of the context", map[string]string{
		"TestCompactionCanBeUndone": "internal/engine/compact_test.go", "TestContext": "internal/session/context_test.go",
	}},
	{"a second compaction reads all again instead of the summary and what came since", map[string]string{"TestFileListsAreUpdated": "internal/summary/summary_test.go"}},
	{"values of environment variables reach a session, or commands", map[string]string{
		"TestKeysStayHome": "cmd/agent/prove_turn_test.go", "TestBashEnvironment": "internal/tool/bash_test.go",
	}},
	{"two working folders share one folder of sessions", map[string]string{"TestDirTellsProjectsApart": "internal/session/list_test.go"}},
	{"a task exists that its session does not know of; deleting follows a stored path", map[string]string{
		"TestTask": "internal/engine/task_test.go", "TestDeletingFollowsNoStoredPath": "internal/session/task_test.go",
	}},
	{"an unknown leaf, a lost parent or a circle shows a part of a session without a word, or ends in a loop", map[string]string{
		"TestBadFiles": "internal/session/bad_test.go", "TestEveryLineDamaged": "internal/session/bad_test.go",
	}},
	{"when a session was made changes with each save", map[string]string{"TestWhenItWasMadeStays": "internal/session/header_test.go"}},
	{"what begins has no end, or two; a compaction fails without a word", map[string]string{
		"TestEveryNavigationHasOneAnswer": "internal/engine/move_test.go", "TestInterruptedCompaction": "internal/engine/compact_test.go",
		"TestFailedCompactionLeavesTheChatGoing": "internal/engine/engine_test.go", "TestTasksBeginAndEndOnce": "internal/engine/task_test.go",
	}},
	{"an interrupt leaves calls without a result, or with two", map[string]string{
		"TestInterruptAnswersEveryCall": "internal/agent/loop_test.go", "TestInterruptedTasksGoOn": "internal/engine/task_test.go",
	}},
	{"the tools that give a result can be replaced by others of their name", map[string]string{"TestResultToolsAreReserved": "internal/headless/result_test.go"}},
	{"a skill, or the folder of a task, leaves its place", map[string]string{
		"TestTasksThatAreNotGiven": "internal/engine/task_test.go", "TestHostileFilesDoNoHarm": "internal/skill/skill_test.go",
	}},
	{"a command that ignores signals keeps the program after its time, or leaves processes", map[string]string{
		"TestBashTimeout": "internal/tool/bash_test.go", "TestNothingSurvivesAKill": "internal/sandbox/sandbox_test.go",
	}},
}

// Each of them has tests, which are where the table says.
func TestEveryDefectHasATest(t *testing.T) {
	if len(defects) != 20 {
		t.Errorf("%d defects, 20 were written down", len(defects))
	}
	for _, d := range defects {
		for name, file := range d.tests {
			text, err := os.ReadFile(filepath.Join("../..", file))
			if err != nil || !regexp.MustCompile(`(?m)^func `+name+`\(`).Match(text) {
				t.Errorf("%q: there is no %s in %s (%v)", d.not, name, file, err)
			}
		}
	}
}
