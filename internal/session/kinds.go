package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"banyan/internal/llm"
)

// kinds is what we know of each entry type: how to read its members from a
// line. Types that are not here are kept as [Unknown]. A new kind needs a row
// here and a case in encodeData.
var kinds = map[string]func(line []byte, at time.Time) (Data, error){
	"message":               decodeMessage,
	"compaction":            decodeCompaction,
	"branch_summary":        decodeBranchSummary,
	"custom":                decodeCustom,
	"custom_message":        decodeCustomMessage,
	"label":                 decodeLabel,
	"session_info":          decodeInfo,
	"model_change":          decodeModelChange,
	"thinking_level_change": decodeThinkingChange,
	"mode_change":           decodeModeChange,
	"ttsr_injection":        decodeRuleInjection,
}

// roles is the same for the messages.
var roles = map[string]func(raw []byte, at time.Time) (Data, error){
	string(llm.User):       decodeUser,
	string(llm.Assistant):  decodeAssistant,
	string(llm.ToolResult): decodeToolResult,
	roleCommand:            decodeCommand,
	roleCustom:             decodeInnerCustom,
	roleHook:               decodeInnerCustom,
}

// Roles of messages that no provider is sent as they are.
const (
	roleCommand = "bashExecution"
	roleCustom  = "custom"
	roleHook    = "hookMessage" // version 2's word for custom
)

// PositionType is the customType of position records, see docs/session-format.md.
const PositionType = "banyan.position"

// SkillType is the customType of the text of a skill that a user called. Its
// details are {"name", "path"}: of the skill, and of its file.
const SkillType = "banyan.skill"

// timeForm is RFC 3339 with milliseconds; times are UTC.
const timeForm = "2006-01-02T15:04:05.000Z"

// decodeData reads what an entry says. It never fails: what does not decode is Unknown.
func decodeData(kind string, line []byte, at time.Time) Data {
	unknown := Unknown{Type: kind, Raw: line}
	decode, known := kinds[kind]
	switch {
	case !json.Valid(line):
		unknown.Err = errors.New("the line is not JSON")
	case known:
		d, err := decode(line, at)
		if err == nil {
			return d
		}
		unknown.Err = err
	}
	return unknown
}

// errUnknownRole: other writers have roles that we do not; it is no damage.
var errUnknownRole = errors.New("a message with the unknown role")

func decodeMessage(line []byte, at time.Time) (Data, error) {
	raw := member(line, "message")
	if raw == nil || raw[0] != '{' {
		return nil, errors.New("a message entry without a message")
	}
	role, _ := unquote(member(raw, "role"))
	decode, ok := roles[role]
	if !ok {
		return nil, fmt.Errorf("%w %q", errUnknownRole, role)
	}
	return decode(raw, at)
}

// decodeAs reads JSON into a shape and makes data of it.
func decodeAs[W any](raw []byte, made func(W) Data) (Data, error) {
	var w W
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, err
	}
	return made(w), nil
}

func decodeUser(raw []byte, at time.Time) (Data, error) {
	return decodeAs(raw, func(w wireUser) Data {
		return Message{llm.Message{Role: llm.User, Time: w.Timestamp.or(at), Content: w.Content.blocks()}}
	})
}

func decodeAssistant(raw []byte, at time.Time) (Data, error) {
	return decodeAs(raw, func(w wireAssistant) Data {
		return Message{llm.Message{
			Role: llm.Assistant, Time: w.Timestamp.or(at), Content: w.Content.blocks(),
			API: w.API, Provider: w.Provider, Model: w.Model, ResponseID: w.ResponseID,
			Usage: w.Usage.usage(), StopReason: llm.StopReason(w.StopReason), ErrorMessage: w.ErrorMessage,
		}}
	})
}

func decodeToolResult(raw []byte, at time.Time) (Data, error) {
	return decodeAs(raw, func(w wireToolResult) Data {
		return Message{llm.Message{
			Role: llm.ToolResult, Time: w.Timestamp.or(at), Content: w.Content.blocks(),
			CallID: w.ToolCallID, ToolName: w.ToolName, IsError: w.IsError, Details: optional(w.Details),
		}}
	})
}

func decodeCommand(raw []byte, at time.Time) (Data, error) {
	return decodeAs(raw, func(w wireCommand) Data {
		return Command{
			Command: w.Command, Output: w.Output, ExitCode: w.ExitCode, Cancelled: w.Cancelled,
			Truncated: w.Truncated, FullOutput: w.FullOutput, Excluded: w.Excluded, Time: w.Timestamp.or(at),
		}
	})
}

// decodeInnerCustom reads a custom message that stands in a message entry, as
// in migrated files.
func decodeInnerCustom(raw []byte, _ time.Time) (Data, error) {
	return decodeCustomMessage(raw, time.Time{})
}

func decodeCustomMessage(raw []byte, _ time.Time) (Data, error) {
	return decodeAs(raw, func(w wireCustomMessage) Data {
		return CustomMessage{Type: w.CustomType, Content: w.Content.blocks(), Display: w.Display, Details: optional(w.Details)}
	})
}

func decodeCompaction(line []byte, _ time.Time) (Data, error) {
	return decodeAs(line, func(w wireCompaction) Data {
		return Compaction{
			Summary: w.Summary, FirstKept: ID(w.FirstKept), TokensBefore: int(w.TokensBefore),
			Details: fileLists(w.Details), Usage: w.Usage.pointer(), FromHook: w.FromHook || w.FromExtension,
		}
	})
}

func decodeBranchSummary(line []byte, _ time.Time) (Data, error) {
	return decodeAs(line, func(w wireBranchSummary) Data {
		s := BranchSummary{
			From: ID(w.From), Summary: w.Summary, Details: fileLists(w.Details),
			Usage: w.Usage.pointer(), FromHook: w.FromHook || w.FromExtension,
		}
		if s.From == Root {
			s.From = ""
		}
		return s
	})
}

func decodeCustom(line []byte, _ time.Time) (Data, error) {
	return decodeAs(line, func(w wireCustom) Data { return Custom{Type: w.CustomType, Data: optional(w.Data)} })
}

func decodeLabel(line []byte, _ time.Time) (Data, error) {
	return decodeAs(line, func(w wireLabel) Data { return Label{Target: ID(w.TargetID), Text: deref(w.Label)} })
}

func decodeInfo(line []byte, _ time.Time) (Data, error) {
	return decodeAs(line, func(w wireInfo) Data { return Info{Name: deref(w.Name)} })
}

func decodeModelChange(line []byte, _ time.Time) (Data, error) {
	return decodeAs(line, func(w wireModelChange) Data {
		c := ModelChange{Provider: w.Provider, Model: w.ModelID, Role: w.Role}
		if c.Model == "" {
			c.Provider, c.Model = splitModel(w.Model)
		}
		return c
	})
}

func decodeThinkingChange(line []byte, _ time.Time) (Data, error) {
	return decodeAs(line, func(w wireThinkingChange) Data {
		if w.Level == nil { // oh-my-pi: the model's default
			return ThinkingChange{Level: llm.ThinkingOff}
		}
		return ThinkingChange{Level: llm.ThinkingLevel(*w.Level)}
	})
}

func decodeModeChange(line []byte, _ time.Time) (Data, error) {
	return decodeAs(line, func(w wireModeChange) Data { return ModeChange{Mode: w.Mode, Data: optional(w.Data)} })
}

func decodeRuleInjection(line []byte, _ time.Time) (Data, error) {
	return decodeAs(line, func(w wireRuleInjection) Data { return RuleInjection(w) })
}

// encodeEntry writes an entry as a line, without its end.
func encodeEntry(e Entry) ([]byte, error) {
	var members []byte
	var err error
	if u, ok := e.Data.(Unknown); ok {
		members, err = foreignMembers(u.Raw)
	} else {
		members, err = encodeMembers(e)
	}
	if err != nil {
		return nil, fmt.Errorf("encoding an entry of type %s: %w", e.Data.kind(), err)
	}
	return append(append(encodeHead(e), members...), '}'), nil
}

// encodeHead writes what every entry begins with.
func encodeHead(e Entry) []byte {
	line := make([]byte, 0, 256)
	line = appendString(append(line, `{"type":`...), e.Data.kind())
	line = appendString(append(line, `,"id":`...), string(e.ID))
	line = append(line, `,"parentId":`...)
	if e.Parent == "" {
		line = append(line, "null"...)
	} else {
		line = appendString(line, string(e.Parent))
	}
	line = append(line, `,"timestamp":"`...)
	return append(e.Time.UTC().AppendFormat(line, timeForm), '"')
}

// appendString appends a text as a JSON string.
func appendString(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := marshal(text) // a string always has an encoding
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), text...), '"')
}

// encodeMembers writes what an entry says, as members that follow its head.
func encodeMembers(e Entry) ([]byte, error) {
	shape, err := encodeData(e)
	if err != nil {
		return nil, err
	}
	b, err := marshal(shape)
	if err != nil || len(b) == len("{}") {
		return nil, err
	}
	b[0] = ','
	return b[:len(b)-1], nil
}

// encodeData is the shape of what an entry says.
func encodeData(e Entry) (any, error) {
	switch d := e.Data.(type) {
	case Message:
		shape, err := encodeMessage(d, e.Time)
		return struct {
			Message any `json:"message"`
		}{shape}, err
	case Command:
		return struct {
			Message any `json:"message"`
		}{encodeCommand(d, e.Time)}, nil
	case Compaction:
		details, err := toFileLists(d.Details)
		return wireCompaction{
			Summary: d.Summary, FirstKept: string(d.FirstKept), TokensBefore: wireCount(d.TokensBefore),
			Details: details, Usage: toWireUsagePointer(d.Usage), FromHook: d.FromHook,
		}, err
	case BranchSummary:
		details, err := toFileLists(d.Details)
		from := string(d.From)
		if from == "" {
			from = Root
		}
		return wireBranchSummary{
			From: from, Summary: d.Summary, Details: details,
			Usage: toWireUsagePointer(d.Usage), FromHook: d.FromHook,
		}, err
	case Custom:
		return wireCustom{CustomType: d.Type, Data: d.Data}, nil
	case CustomMessage:
		content, err := toWireContent(d.Content)
		return wireCustomMessage{CustomType: d.Type, Content: content, Display: d.Display, Details: d.Details}, err
	case Label:
		w := wireLabel{TargetID: string(d.Target)}
		if d.Text != "" {
			w.Label = &d.Text
		}
		return w, nil
	case Info:
		return wireInfo{Name: &d.Name}, nil
	case ModelChange:
		return wireModelChange{Provider: d.Provider, ModelID: d.Model, Role: d.Role}, nil
	case ThinkingChange:
		level := string(d.Level)
		return wireThinkingChange{Level: &level}, nil
	case ModeChange:
		return wireModeChange(d), nil
	case RuleInjection:
		return wireRuleInjection{Rules: append([]string{}, d.Rules...)}, nil
	}
	return nil, fmt.Errorf("no encoding for %T", e.Data)
}

func encodeMessage(m Message, at time.Time) (any, error) {
	content, err := toWireContent(m.Content)
	if err != nil {
		return nil, err
	}
	ts := toMillis(m.Time)
	if ts == 0 {
		ts = toMillis(at)
	}
	switch m.Role {
	case llm.User:
		return wireUser{Role: string(m.Role), Content: content, Timestamp: ts}, nil
	case llm.Assistant:
		return wireAssistant{
			Role: string(m.Role), Content: content, API: m.API, Provider: m.Provider, Model: m.Model,
			ResponseID: m.ResponseID, Usage: toWireUsage(m.Usage), StopReason: string(m.StopReason),
			ErrorMessage: m.ErrorMessage, Timestamp: ts,
		}, nil
	case llm.ToolResult:
		return wireToolResult{
			Role: string(m.Role), ToolCallID: m.CallID, ToolName: m.ToolName, Content: content,
			Details: m.Details, IsError: m.IsError, Timestamp: ts,
		}, nil
	}
	return nil, fmt.Errorf("a message cannot have the role %q", m.Role)
}

func encodeCommand(c Command, at time.Time) wireCommand {
	ts := toMillis(c.Time)
	if ts == 0 {
		ts = toMillis(at)
	}
	return wireCommand{
		Role: roleCommand, Command: c.Command, Output: c.Output, ExitCode: c.ExitCode, Cancelled: c.Cancelled,
		Truncated: c.Truncated, FullOutput: c.FullOutput, Excluded: c.Excluded, Timestamp: ts,
	}
}

// foreignMembers are the members of a line other than its head, as they stand,
// each after a comma.
func foreignMembers(line []byte) ([]byte, error) {
	if !json.Valid(line) {
		return nil, errors.New("the line is not JSON")
	}
	return appendMembers(nil, line, "type", "id", "parentId", "timestamp"), nil
}
