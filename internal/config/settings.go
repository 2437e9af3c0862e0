package config

// Settings are what a user can set, as it counts: defaults where nothing is set.
// The names in the files are in the table of fields, which a test holds against
// this struct.
type Settings struct {
	Model          string   // provider/model[:thinking]; empty: the first that is configured
	FallbackModels []string // tried in this order when Model cannot answer
	Thinking       string   // a thinking level; empty: the model's part after the colon, else off

	Theme         string // a name; "auto" looks at the terminal's background
	Mouse         bool
	Notifications string // "auto", "off", or the way to give them
	Title         bool   // the terminal's title is set
	ReducedMotion bool
	Images        string // how pictures are drawn; "auto": as the terminal can
	Vim           bool   // the editor has vi's modes

	Keys               map[string][]string // by the id of a binding; an empty list takes its keys away
	DoubleEscapeAction string              // "tree", "branch" or "none"
	TreeFilter         string              // the filter that the tree opens with

	BranchSummary BranchSummary
	Compaction    Compaction
	Permissions   Permissions

	Extensions []string // executables that are run as extensions; relative to the config folder

	MaxTurns     int     // requests to the model in one turn; 0: no limit
	MaxBudgetUSD float64 // USD that a run without a screen may cost; 0: no limit

	MaxTaskDepth       int         // how deep tasks may give tasks; 0: none are given
	MaxParallelTasks   int         // of one conversation at once; 0: as many as usual
	MCPServers         []MCPServer // of all places, later ones last; several may have one name
	DisabledMCPServers []string

	Hooks           []Raw // commands that run when something happens, as each file has them
	DisableAllHooks bool  // none of them

	Store string // where sessions are kept; empty: in files

	ShellEnv []string // names of environment variables that commands may see besides the usual ones
}

// Raw is a JSON object as it stands in a file; its users read it.
type Raw struct {
	JSON   []byte
	Source Source
}

// BranchSummary says what happens to entries that are left behind in the tree.
type BranchSummary struct {
	Prompt       string // "ask", "always" or "never"
	Instructions string // for the one who summarises, besides the usual ones
}

// Compaction says when and how a long context is summarised, in tokens.
type Compaction struct {
	Enabled          bool   // by itself; by command it always works
	ReserveTokens    int    // free room at which it begins
	KeepRecentTokens int    // the newest part, which is kept as it is
	Model            string // who summarises, provider/model; empty: the model that answers
	// Models have their own sizes, by provider/model or by the model's id alone.
	Models map[string]*ModelCompaction
}

// ModelCompaction is what differs for one model. Zero means that it does not.
type ModelCompaction struct {
	ReserveTokens    int
	KeepRecentTokens int
}

// For gives the sizes for a model, in tokens.
func (c Compaction) For(provider, model string) (reserve, keepRecent int) {
	reserve, keepRecent = c.ReserveTokens, c.KeepRecentTokens
	for _, name := range []string{model, provider + "/" + model} { // the exact name has the last word
		m := c.Models[name]
		if m == nil {
			continue
		}
		if m.ReserveTokens > 0 {
			reserve = m.ReserveTokens
		}
		if m.KeepRecentTokens > 0 {
			keepRecent = m.KeepRecentTokens
		}
	}
	return reserve, keepRecent
}

// Permissions say what may be done without asking. The rules of all sources
// count together: one that denies beats one that asks, which beats one that allows.
type Permissions struct {
	Allow, Ask, Deny      []Rule
	DefaultMode           string   // the permission mode that a chat begins with
	AdditionalDirectories []string // folders besides the working folder; ~ and relative paths are left as written
}

// Rule is a permission rule and where it stands. A rule with a path that begins
// with a slash is relative to the project of that place.
type Rule struct {
	Text   string
	Source Source
}

// Defaults are the settings of a user who has set nothing.
func Defaults() Settings {
	return Settings{
		Theme: "auto", Mouse: true, Notifications: "auto", Title: true, Images: "auto",
		Keys:               map[string][]string{},
		DoubleEscapeAction: "tree",
		TreeFilter:         "default",
		BranchSummary:      BranchSummary{Prompt: "ask"},
		Compaction: Compaction{
			Enabled: true, ReserveTokens: 16384, KeepRecentTokens: 20000,
			Models: map[string]*ModelCompaction{},
		},
		Permissions:  Permissions{DefaultMode: "ask"},
		MaxTaskDepth: 8, MaxParallelTasks: 4,
	}
}
