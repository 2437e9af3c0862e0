package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"banyan/internal/engine"
	"banyan/internal/session"
	"banyan/internal/store"
	"banyan/internal/tui/inert"
)

// stats is what all sessions took: the output of `agent stats --json`.
type stats struct {
	Total    statsSum       `json:"total"`
	Tasks    statsSum       `json:"tasks"`    // how much of it tasks took; ms are also those of the calls that gave them
	Days     []statsDay     `json:"days"`     // oldest first, in local time; none without answers
	Models   []statsModel   `json:"models"`   // most tokens first
	Sessions []statsSession `json:"sessions"` // most tokens first
	// Unread are the files that are no sessions, or could not be read to their end.
	Unread []statsUnread `json:"unread"`
}

// statsSum is tokens, USD and ms.
type statsSum struct {
	Input       int     `json:"input"` // not served from a cache
	Output      int     `json:"output"`
	CacheRead   int     `json:"cacheRead"`
	CacheWrite  int     `json:"cacheWrite"`
	Tokens      int     `json:"totalTokens"`
	USD         float64 `json:"usd"`
	CostUnknown bool    `json:"costUnknown"` // some of it has no known price
	CacheHits   float64 `json:"cacheHits"`   // the part of what was sent that came from a cache, 0 to 1
	Answers     int     `json:"answers"`
	Summaries   int     `json:"summaries"`
	Ms          int64   `json:"ms"` // answering and running tools
}

type statsDay struct {
	Day string `json:"day"` // 2026-11-20
	statsSum
}

// statsModel is one model's; both names are empty for summaries, whose model
// files do not tell.
type statsModel struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	statsSum
}

type statsSession struct {
	ID    string `json:"id"`
	Path  string `json:"path"`
	Title string `json:"title"`
	Cwd   string `json:"cwd"`
	statsSum
	Tasks statsSum `json:"tasks"` // how much of it its tasks took
}

type statsUnread struct {
	Path  string `json:"path"`
	Error string `json:"error"`
}

func statsCommand() *cobra.Command {
	var f sessionFlags
	var days int
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Tokens, cost and time of all sessions, by day, model and session",
		Long: `Sum up what all sessions took, those of every folder and branch. What a fork
took over from another session counts there, once. A plus behind a cost says
that some of it has no known price.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if days < 0 {
				return usagef("--days takes a number of days, not %d", days)
			}
			r, err := newSessionRun(cmd, f)
			if err != nil {
				return err
			}
			return errors.Join(runStats(r, days), r.store.Close())
		},
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.Flags().IntVar(&days, "days", 0, "only of this many days, today included (0: of all)")
	return cmd
}

func runStats(r *sessionRun, days int) error {
	files, err := session.List(r.store, "", r.paths.Cache)
	if err != nil {
		return fmt.Errorf("list the sessions: %w", err)
	}
	c := statsCount{days: map[string]*engine.UsageSum{}, models: map[session.ModelRef]*engine.UsageSum{}, known: map[string]bool{}}
	if days > 0 {
		now := time.Now()
		c.since = time.Date(now.Year(), now.Month(), now.Day()-days+1, 0, 0, 0, 0, time.Local)
	}
	for _, f := range files {
		c.known[f.Path], c.known[f.ID] = true, true
	}
	for _, f := range files {
		if err := r.cmd.Context().Err(); err != nil {
			return err
		}
		if err := c.file(r.store, f); err != nil {
			c.out.Unread = append(c.out.Unread, statsUnread{f.Path, err.Error()})
		}
	}
	out := c.finished()
	return r.print(out, out.print)
}

// statsCount sums sessions up, one at a time: it holds a sum for each day, model
// and session, and one session's index.
type statsCount struct {
	since  time.Time // zero: from the beginning
	known  map[string]bool
	out    stats
	total  engine.UsageSum
	tasks  engine.UsageSum
	days   map[string]*engine.UsageSum
	models map[session.ModelRef]*engine.UsageSum
}

// file adds a session with its tasks. Where one cannot be read to its end, what
// came before counts.
func (c *statsCount) file(st store.Store, f session.File) error {
	var sum, tasks engine.UsageSum
	err := c.add(st, f.Path, &sum)
	if f.Tasks > 0 {
		all, _ := session.Family(f.Path, session.Options{Store: st}) // err says it already
		for _, path := range all[:max(0, len(all)-1)] {
			err = cmp.Or(err, c.add(st, path, &tasks))
		}
	}
	sum.Usage, sum.Answers, sum.Summaries = sum.Usage.Add(tasks.Usage), sum.Answers+tasks.Answers, sum.Summaries+tasks.Summaries
	c.tasks.Usage, c.tasks.Answers, c.tasks.Took = c.tasks.Usage.Add(tasks.Usage), c.tasks.Answers+tasks.Answers, c.tasks.Took+tasks.Took
	if sum.Answers+sum.Summaries > 0 {
		c.out.Sessions = append(c.out.Sessions, statsSession{f.ID, f.Path, f.Title(), f.Cwd, summed(sum), summed(tasks)})
	}
	return err
}

// add adds what one file says to the sums of all, and to sum.
func (c *statsCount) add(st store.Store, path string, sum *engine.UsageSum) error {
	m, err := session.Open(path, session.Options{Store: st, ReadOnly: true})
	if err != nil {
		return err
	}
	defer m.Close()
	snap := m.Snapshot()
	from := c.since
	if h := snap.Header(); c.known[h.Parent] && h.Parent != "" && h.Time.After(from) {
		from = h.Time // what is older is the parent's, too, and counts there
	}
	var unread error
	for s, err := range engine.Spending(snap) {
		if err != nil {
			unread = cmp.Or(unread, err)
			continue
		}
		if s.Time.Before(from) {
			continue
		}
		sum.Add(s)
		if snap.Header().Task != nil {
			s.Took = 0 // it is in that of the call that gave the task
		}
		c.total.Add(s)
		addTo(c.days, s.Time.Local().Format(time.DateOnly), s)
		if s.Answer || s.Summary {
			addTo(c.models, s.Model, s)
		}
	}
	return unread
}

func addTo[K comparable](sums map[K]*engine.UsageSum, key K, s engine.Spent) {
	if sums[key] == nil {
		sums[key] = &engine.UsageSum{}
	}
	sums[key].Add(s)
}

func summed(s engine.UsageSum) statsSum {
	return statsSum{
		Input: s.Input, Output: s.Output, CacheRead: s.CacheRead, CacheWrite: s.CacheWrite, Tokens: s.Total,
		USD: s.Cost.Total, CostUnknown: s.CostUnknown, CacheHits: engine.CacheHits(s.Usage),
		Answers: s.Answers, Summaries: s.Summaries, Ms: s.Took.Milliseconds(),
	}
}

func (c *statsCount) finished() stats {
	out := c.out
	out.Total, out.Tasks = summed(c.total), summed(c.tasks)
	out.Days, out.Models = []statsDay{}, []statsModel{}
	for _, day := range slices.Sorted(maps.Keys(c.days)) {
		if s := summed(*c.days[day]); s.Answers+s.Summaries > 0 {
			out.Days = append(out.Days, statsDay{day, s})
		}
	}
	for ref, s := range c.models {
		out.Models = append(out.Models, statsModel{ref.Provider, ref.Model, summed(*s)})
	}
	slices.SortFunc(out.Models, func(a, b statsModel) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Model, b.Model))
	})
	out.Sessions = append([]statsSession{}, out.Sessions...)
	slices.SortStableFunc(out.Sessions, func(a, b statsSession) int { return cmp.Compare(b.Tokens, a.Tokens) })
	out.Unread = append([]statsUnread{}, out.Unread...)
	return out
}

// How much of it people are shown; JSON has all.
const (
	daysShown     = 31
	sessionsShown = 10
	barShown      = 20 // cells of the longest bar
)

func (s stats) print(w io.Writer) {
	if s.Total.Answers+s.Total.Summaries == 0 {
		fmt.Fprintln(w, "Nothing has been asked in this time.")
	} else {
		s.printTables(w)
	}
	if n := len(s.Unread); n > 0 {
		more := ""
		if n > 1 {
			more = fmt.Sprintf(" (and so for %d others, see --json)", n-1)
		}
		fmt.Fprintf(w, "\nNot read: %s: %s%s\n", inert.Line(s.Unread[0].Path), inert.Line(s.Unread[0].Error), more)
	}
}

func (s stats) printTables(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name string, most int, r statsSum) {
		bar := ""
		if most > 0 {
			bar = strings.Repeat("█", (r.Tokens*barShown+most-1)/most)
		}
		answers := "answers"
		if r.Answers == 1 {
			answers = "answer"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s cached\t%d %s\t%s\n", name, tokens(r.Tokens), r.dollars(), fmt.Sprintf("%.0f%%", 100*r.CacheHits), r.Answers, answers, bar)
	}
	row("all", 0, s.Total)
	if s.Tasks.Answers > 0 {
		row("of it tasks", 0, s.Tasks)
	}
	fmt.Fprintln(t)
	days, most := s.Days[max(0, len(s.Days)-daysShown):], 0
	for _, d := range days {
		most = max(most, d.Tokens)
	}
	for _, d := range days {
		row(d.Day, most, d.statsSum)
	}
	fmt.Fprintln(t)
	for _, m := range s.Models {
		name := "summaries"
		if m.Model != "" {
			name = inert.Line(m.Provider + "/" + m.Model)
		}
		row(name, s.Models[0].Tokens, m.statsSum)
	}
	fmt.Fprintln(t)
	for _, f := range s.Sessions[:min(sessionsShown, len(s.Sessions))] {
		row(shortID(f.ID)+"  "+short(inert.Line(f.Title)), s.Sessions[0].Tokens, f.statsSum)
	}
	if more := len(s.Sessions) - sessionsShown; more > 0 {
		fmt.Fprintf(t, "and %d other sessions\n", more)
	}
	_ = t.Flush() // the buffer below it keeps its error
}

// short is a title that leaves room for figures.
func short(title string) string {
	const most = 30
	if r := []rune(title); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return title
}

func (r statsSum) dollars() string {
	switch {
	case r.CostUnknown && r.USD == 0:
		return "cost unknown"
	case r.CostUnknown:
		return fmt.Sprintf("$%.4f+", r.USD)
	}
	return fmt.Sprintf("$%.4f", r.USD)
}
