package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"banyan/internal/config"
	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/llm/provider"
	"banyan/internal/mcp"
	"banyan/internal/tool"
	"banyan/internal/tui"
)

// resourcesType is the customType of the resources that a prompt mentions.
const resourcesType = "banyan.resources"

// serversTime is how long print mode waits for servers: it asks once.
const serversTime = 45 * time.Second

// mcpServers are the servers of the flag, of the settings and of the project, if
// it is trusted.
func (s *setup) mcpServers() ([]mcp.Server, error) {
	list := slices.Clone(s.settings.MCPServers)
	for _, file := range s.opts.mcpConfig {
		more, problems, err := config.ReadMCP("--mcp-config", file)
		if err != nil {
			return nil, usageError{err}
		}
		if len(problems) > 0 {
			return nil, usageError{errors.New(problems[0].String())}
		}
		list = append(list, more...)
	}
	return mcp.Parse(list, s.project, s.settings.DisabledMCPServers, os.LookupEnv), nil
}

// startServers starts the servers that there are, in the background, and ends
// those that there are no more. Where there are none it does nothing.
func (s *setup) startServers() error {
	servers, err := s.mcpServers()
	if err != nil {
		return err
	}
	if s.servers.Load() == nil {
		if len(servers) == 0 {
			return nil
		}
		s.servers.Store(mcp.NewHost(s.hostOptions(s.send)))
	}
	s.servers.Load().Set(servers)
	return nil
}

// hostOptions are what servers need of us; what comes of them is sent to the
// engine.
func (s *setup) hostOptions(send func(engine.Command)) mcp.Options {
	return mcp.Options{
		Version: version(), Dir: s.Cwd, PassEnv: s.settings.ShellEnv, Trust: s.trust(), Offline: s.opts.offline,
		Tokens: logins{s.paths.Config},
		Temp: func() string {
			dir, _ := s.temp.Load().(string)
			return dir
		},
		Tell: func(text string) { send(engine.Notice{Level: engine.Warning, Text: text}) },
		Changed: func(server string, tools []tool.Tool) {
			send(engine.SetTools{From: "the MCP server " + server, Tools: tools})
		},
	}
}

// endServers ends the servers that there are.
func (s *setup) endServers() {
	if host := s.servers.Load(); host != nil {
		host.Close()
	}
}

// waitForServers lets servers start before the only prompt there is.
func (s *setup) waitForServers(ctx context.Context) {
	if host := s.servers.Load(); host != nil {
		ctx, cancel := context.WithTimeout(ctx, serversTime)
		defer cancel()
		host.Wait(ctx)
	}
}

// logins keeps logins of MCP servers with the keys of providers.
type logins struct{ dir string }

func (l logins) open() (*provider.Credentials, error) {
	return provider.LoadCredentials(provider.CredentialsFile(l.dir))
}

func (l logins) Load(key string) (string, error) {
	c, err := l.open()
	if err != nil {
		return "", err
	}
	return c.Secret(key)
}

func (l logins) Keep(key, text string) error {
	c, err := l.open()
	if err != nil {
		return err
	}
	return c.Set(key, text, false)
}

func (l logins) Forget(key string) error {
	c, err := l.open()
	if err != nil || !c.Has(key) {
		return err
	}
	return c.Remove(key)
}

// serverPrompts are the commands that servers' prompts make.
func (s *setup) serverPrompts() []tui.Template {
	host := s.servers.Load()
	if host == nil {
		return nil
	}
	var all []tui.Template
	for _, state := range host.States() {
		for _, p := range state.Prompts {
			all = append(all, tui.Template{Name: p.Name, Args: p.Usage(), Help: p.Help, Expand: func(ctx context.Context, args string) (engine.Submit, error) {
				content, err := host.Prompt(ctx, p.Name, args)
				if err != nil {
					return engine.Submit{}, err
				}
				stands := expansion(promptType, "", p.Name, "MCP server "+state.Server.Name)
				stands.Content, stands.Display = content, true
				return engine.Submit{Text: typed(p.Name, args), Stands: stands}, nil
			}})
		}
	}
	return all
}

// mentions says what the resources that a prompt names are, or nil if it names
// none: a function, as they must be asked for.
func (s *setup) mentions(text string) func(context.Context) (*engine.Expansion, error) {
	host := s.servers.Load()
	if host == nil {
		return nil
	}
	named := host.Mentions(text)
	if len(named) == 0 {
		return nil
	}
	return func(ctx context.Context) (*engine.Expansion, error) {
		var content []llm.Block
		var names []string
		for _, m := range named {
			part, err := host.Read(ctx, m)
			if err != nil {
				return nil, err
			}
			content, names = append(content, part...), append(names, "@"+m.Server+":"+m.URI)
		}
		stands := expansion(resourcesType, "", strings.Join(names, " "), "")
		stands.Content, stands.Display = content, true
		return stands, nil
	}
}

// withMentions adds to a prompt what it names.
func (s *setup) withMentions(ctx context.Context, text string) (engine.Submit, error) {
	prompt := engine.Submit{Text: text}
	if read := s.mentions(text); read != nil {
		stands, err := read(ctx)
		if err != nil {
			return engine.Submit{}, err
		}
		prompt.Stands = stands
	}
	return prompt, nil
}

// files are what can be written after an @: files, and resources of servers.
func (s *setup) files(ctx context.Context) ([]string, error) {
	files, err := tool.Files(ctx, s.Cwd)
	if host := s.servers.Load(); host != nil {
		files = append(files, host.Resources()...)
	}
	return files, err
}

// disableServer keeps a server from starting, from now on, or lets it.
func (s *setup) disableServer(name string, off bool) error {
	settings, _, _ := config.Load(s.paths, "", false, nil)
	list := slices.DeleteFunc(settings.DisabledMCPServers, func(n string) bool { return n == name })
	if off {
		list = append(list, name)
	}
	var value any
	if len(list) > 0 {
		value = list
	}
	return config.Set(s.paths.UserFile(), "disabledMcpServers", value)
}

// loginTime is how long a login in the browser may take.
const loginTime = 5 * time.Minute

// logIn opens the browser for a server's login, and says where it leads.
func logIn(ctx context.Context, host *mcp.Host, name string, say func(string)) error {
	ctx, cancel := context.WithTimeout(ctx, loginTime)
	defer cancel()
	return host.Login(ctx, name, func(address string) {
		say(fmt.Sprintf("To log in to %s, open this address in a browser, if it has not opened by itself: %s", name, address))
		_ = mcp.OpenBrowser(address) // the address is there to be opened by hand
	})
}

// mcpFolder is where "agent mcp add --scope project" writes.
func (s *setup) mcpFolder() (string, error) {
	if s.project != "" {
		return s.project, nil
	}
	folder, err := s.trust().Candidate(s.Cwd)
	if err != nil {
		return "", err
	}
	return filepath.Clean(folder), nil
}
