package main

import (
	"fmt"
	"strings"
	"time"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/llm/offline"
	"banyan/internal/session"
)

// models gives clients by name, from what the environment configures.
type models struct {
	env     func(string) string
	offline bool // --offline: nothing else is used
}

func newModels(env func(string) string, offline bool) *models {
	return &models{env, offline}
}

var offlineRef = session.ModelRef{Provider: offline.Provider, Model: offline.Model}

// choose finds the model that a new session begins with: the one asked for, else
// the first that is configured, else the offline one.
func (m *models) choose(name string) (ref session.ModelRef, level llm.ThinkingLevel, chosen bool, err error) {
	if name == "" || m.offline {
		return offlineRef, "", m.offline, nil
	}
	name, thinking, _ := strings.Cut(name, ":")
	provider, model, ok := strings.Cut(name, "/")
	if !ok {
		return ref, "", false, fmt.Errorf("the model %q needs its provider: provider/model", name)
	}
	ref = session.ModelRef{Provider: provider, Model: model}
	_, _, err = m.Client(ref)
	return ref, llm.ThinkingLevel(thinking), true, err
}

// Client implements engine.Models.
func (m *models) Client(ref session.ModelRef) (llm.Client, engine.ModelInfo, error) {
	if ref == offlineRef {
		return offline.Client{Pace: 12 * time.Millisecond}, engine.ModelInfo{Model: offline.Description, API: offline.API, Offline: true}, nil
	}
	return nil, engine.ModelInfo{}, fmt.Errorf("there is no model %s/%s", ref.Provider, ref.Model)
}
