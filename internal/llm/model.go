package llm

import "slices"

// Model is what is known of a model. The zero value of a field means that it
// is not known.
type Model struct {
	Provider string // as in Message.Provider
	ID       string // the provider's model id
	Name     string // for people
	Context  int    // tokens of request and answer together
	Output   int    // tokens of an answer
	Images   bool   // it sees pictures
	// Family is a short name, such as "sonnet", that stands for its newest member.
	Family string
	// Levels are the thinking levels that can be asked for, rising; none means
	// that it does not reason, or not as it is told. Off is among them where
	// the API can be told not to reason.
	Levels []ThinkingLevel
	// Reasoning is how its API is asked to reason.
	Reasoning Reasoning
	// Local models run on a computer of the user and cost nothing.
	Local bool
	// Price is nil where it is not known.
	Price *Price
}

// Reasoning is a way to ask for thinking.
type Reasoning string

// The ways to ask for thinking.
const (
	ReasoningNone     Reasoning = ""         // there is none
	ReasoningBudget   Reasoning = "budget"   // a number of tokens
	ReasoningAdaptive Reasoning = "adaptive" // Anthropic: the model decides, an effort guides it
	ReasoningBetween  Reasoning = "between"  // as adaptive, but off leaves notes between tools
	ReasoningEffort   Reasoning = "effort"   // a word
	ReasoningSwitch   Reasoning = "switch"   // on or off
)

// Price is in USD per million tokens.
type Price struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
	// Above a number of tokens in the request, some models cost more for all of it.
	Above *PriceAbove `json:"above,omitempty"`
}

// PriceAbove is the price of requests that are larger than Tokens.
type PriceAbove struct {
	Tokens     int     `json:"tokens"`
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
}

// Cost returns a usage with its cost. What is not known stays unknown: it is
// marked, and never zero by silence.
func (m Model) Cost(u Usage) Usage {
	u.Cost, u.CostUnknown = Cost{}, false
	if m.Local {
		return u
	}
	if m.Price == nil {
		u.CostUnknown = true
		return u
	}
	p := *m.Price
	if a := p.Above; a != nil && u.Input+u.CacheRead+u.CacheWrite > a.Tokens {
		p = Price{Input: a.Input, Output: a.Output, CacheRead: a.CacheRead, CacheWrite: a.CacheWrite}
	}
	// A price list that is silent on what was used is not a price of zero.
	if p.Input > 0 && (u.CacheRead > 0 && p.CacheRead == 0 || u.CacheWrite > 0 && p.CacheWrite == 0) {
		u.CostUnknown = true
		return u
	}
	c := Cost{
		Input:      float64(u.Input) * p.Input / 1e6,
		Output:     float64(u.Output) * p.Output / 1e6,
		CacheRead:  float64(u.CacheRead) * p.CacheRead / 1e6,
		CacheWrite: float64(u.CacheWrite) * p.CacheWrite / 1e6,
	}
	c.Total = c.Input + c.Output + c.CacheRead + c.CacheWrite
	u.Cost = c
	return u
}

// Level is the level nearest to what was asked that the model has: the next
// lower one, else its lowest. Off, and a model that does not reason, give off.
func (m Model) Level(asked ThinkingLevel) ThinkingLevel {
	if asked == "" || asked == ThinkingOff {
		return ThinkingOff
	}
	best := ThinkingOff
	for _, l := range m.Levels {
		if l != ThinkingOff && (best == ThinkingOff || l.rank() <= asked.rank()) {
			best = l
		}
	}
	return best
}

// Overflowed says whether an answer that is no error shows that its request did
// not fit: some servers cut what is too long, or leave no room to answer, and
// say nothing.
func (m Model) Overflowed(answer Message) bool {
	asked := answer.Usage.Input + answer.Usage.CacheRead + answer.Usage.CacheWrite
	return m.Context > 0 && (asked > m.Context ||
		answer.StopReason == StopLength && answer.Usage.Output == 0 && asked >= m.Context*99/100)
}

// CanStop says whether the API can be told not to reason.
func (m Model) CanStop() bool { return slices.Contains(m.Levels, ThinkingOff) }

// rank is a level's place in ThinkingLevels; unknown levels come first.
func (l ThinkingLevel) rank() int {
	return slices.Index(ThinkingLevels, l)
}

// Budget is the level in tokens, for APIs that are asked with a number.
func (l ThinkingLevel) Budget() int {
	switch l {
	case ThinkingMinimal:
		return 1024
	case ThinkingLow:
		return 4096
	case ThinkingMedium:
		return 10240
	case ThinkingHigh:
		return 20480
	case ThinkingXHigh:
		return 32768
	}
	return 0
}
