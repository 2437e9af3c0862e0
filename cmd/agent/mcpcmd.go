package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"banyan/internal/config"
	"banyan/internal/engine"
	"banyan/internal/mcp"
	"banyan/internal/tui/inert"
)

// mcpCommand is what /mcp does, and more, without a screen.
func mcpCommand(o *chatOptions) *cobra.Command {
	var asJSON bool
	with := func(do func(cmd *cobra.Command, args []string, s *setup) error) func(*cobra.Command, []string) error {
		return func(cmd *cobra.Command, args []string) error {
			s := &setup{opts: *o, send: func(c engine.Command) { printNotice(cmd.ErrOrStderr(), c) }}
			if err := s.readConfig(); err != nil {
				return err
			}
			return do(cmd, args, s)
		}
	}
	cmd := &cobra.Command{
		Use: "mcp", Short: "MCP servers: list, add, remove, test, approve, log in",
		Long: "Servers of the Model Context Protocol, whose tools models can use. docs/mcp.md says\nwhere they are read from and what they may do.",
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.PersistentFlags().BoolVar(&o.trust, "trust", false, "trust this folder for this run")
	cmd.PersistentFlags().StringArrayVar(&o.mcpConfig, "mcp-config", nil, "the MCP servers of this file, too")
	one := func(use, short string, do func(cmd *cobra.Command, args []string, s *setup) error) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1), RunE: with(do)}
	}
	cmd.AddCommand(
		&cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List the servers, without starting them", Args: cobra.NoArgs, RunE: with(func(cmd *cobra.Command, _ []string, s *setup) error {
			return listMCP(cmd, s, asJSON)
		})},
		&cobra.Command{Use: "test [name]…", Short: "Start servers and say what they offer; all without a name", RunE: with(func(cmd *cobra.Command, args []string, s *setup) error {
			return testMCP(cmd, s, args, asJSON)
		})},
		addMCPCommand(with), removeMCPCommand(with),
		one("approve NAME", "Let a project's server run as it is now, and take what it says of its tools", approveMCP),
		one("login NAME", "Log in to a server, in the browser", func(cmd *cobra.Command, args []string, s *setup) error {
			return onHost(cmd, s, args, func(ctx context.Context, host *mcp.Host) error {
				return logIn(ctx, host, args[0], func(text string) { fmt.Fprintln(cmd.ErrOrStderr(), inert.Text(text)) })
			}, "Logged in to ")
		}),
		one("logout NAME", "Forget a server's login", func(cmd *cobra.Command, args []string, s *setup) error {
			return onHost(cmd, s, args, func(_ context.Context, host *mcp.Host) error { return host.Logout(args[0]) }, "Logged out of ")
		}),
	)
	return cmd
}

// printNotice prints what servers' user is told.
func printNotice(to io.Writer, c engine.Command) {
	if n, ok := c.(engine.Notice); ok {
		fmt.Fprintln(to, inert.Text(n.Text))
	}
}

// namedServers are the servers of these names, all for none.
func (s *setup) namedServers(names []string) ([]mcp.Server, error) {
	all, err := s.mcpServers()
	if err != nil || len(names) == 0 {
		return all, err
	}
	var known []string
	for _, server := range all {
		known = append(known, server.Name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			there := "there is none here"
			if len(known) > 0 {
				there = "there are " + strings.Join(known, ", ")
			}
			return nil, fmt.Errorf("there is no MCP server %q; %s", name, there)
		}
	}
	return slices.DeleteFunc(all, func(server mcp.Server) bool { return !slices.Contains(names, server.Name) }), nil
}

// onHost does something with the servers of these names, which are started.
func onHost(cmd *cobra.Command, s *setup, names []string, do func(context.Context, *mcp.Host) error, done string) error {
	servers, err := s.namedServers(names)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "banyan-mcp-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s.temp.Store(dir)
	options := s.hostOptions(s.send)
	options.Tell = func(string) {} // the states say it
	host := mcp.NewHost(options)
	defer host.Close()
	host.Set(servers)
	ctx, cancel := context.WithTimeout(cmd.Context(), loginTime)
	defer cancel()
	host.Wait(ctx)
	if err := do(ctx, host); err != nil || done == "" {
		return err
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), done+strings.Join(names, ", "))
	return err
}

// serverJSON is a server as --json prints it.
type serverJSON struct {
	Name      string   `json:"name"`
	From      string   `json:"from"`
	Transport string   `json:"transport"`
	What      string   `json:"what"`
	State     string   `json:"state"`
	Why       string   `json:"why,omitempty"`
	Tools     []string `json:"tools,omitempty"`
	Held      []string `json:"held,omitempty"` // the server's names of tools that wait for an approval
	Prompts   []string `json:"prompts,omitempty"`
	Resources []string `json:"resources,omitempty"`
}

func serverOf(state mcp.State) serverJSON {
	j := serverJSON{
		Name: state.Server.Name, From: state.Server.Source.String(), Transport: state.Server.Transport,
		What: state.Server.What(), State: string(state.Phase), Why: state.Why, Held: state.Held(),
	}
	for _, t := range state.Given() {
		j.Tools = append(j.Tools, t.Name)
	}
	for _, p := range state.Prompts {
		j.Prompts = append(j.Prompts, p.Name)
	}
	for _, r := range slices.Concat(state.Resources, state.Templates) {
		j.Resources = append(j.Resources, r.URI)
	}
	return j
}

// listMCP lists the servers as their files have them.
func listMCP(cmd *cobra.Command, s *setup, asJSON bool) error {
	servers, err := s.mcpServers()
	if err != nil {
		return err
	}
	list := []serverJSON{}
	for _, server := range servers {
		list = append(list, serverOf(server.AsItStands(s.trust())))
	}
	if asJSON {
		return printJSON(cmd, list)
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), "There are no MCP servers here. agent mcp add NAME -- command, or docs/mcp.md")
		return err
	}
	for _, j := range list {
		line := j.Name + "  " + j.What + "  (" + j.From + ")"
		for _, more := range []string{j.State, j.Why} {
			if more != "" {
				line += "  " + more
			}
		}
		fmt.Fprintln(cmd.OutOrStdout(), inert.Line(line))
	}
	return nil
}

// errNotReady ends a test of which a server has not passed.
var errNotReady = errors.New("not all servers are ready")

// testMCP starts servers and says what they offer.
func testMCP(cmd *cobra.Command, s *setup, names []string, asJSON bool) error {
	return onHost(cmd, s, names, func(_ context.Context, host *mcp.Host) error {
		var failed error
		list := []serverJSON{}
		for _, state := range host.States() {
			if state.Phase != mcp.Ready && state.Phase != mcp.Disabled {
				failed = errNotReady
			}
			list = append(list, serverOf(state))
			if asJSON {
				continue
			}
			log := ""
			if state.Phase != mcp.Ready {
				log, _ = host.Log(state.Server.Name)
			}
			fmt.Fprintln(cmd.OutOrStdout(), inert.Line(state.Server.Name))
			for line := range strings.SplitSeq(serverText(state, log), "\n") {
				fmt.Fprintln(cmd.OutOrStdout(), strings.TrimRight("  "+inert.Line(line), " "))
			}
		}
		if asJSON {
			return errors.Join(printJSON(cmd, list), failed)
		}
		return failed
	}, "")
}

// approveMCP shows what a server asks for and says yes, twice where it then has
// something to ask of its tools.
func approveMCP(cmd *cobra.Command, args []string, s *setup) error {
	asked := false
	return onHost(cmd, s, args, func(ctx context.Context, host *mcp.Host) error {
		for range 2 {
			state, err := host.State(args[0])
			if err != nil {
				return err
			}
			if state.Asks == "" {
				break
			}
			asked = true
			fmt.Fprintln(cmd.OutOrStdout(), inert.Text(whatChanged(state)))
			if err := host.Approve(args[0], state.Asks); err != nil {
				return err
			}
			if state.Phase == mcp.Ready {
				break
			}
			host.Follow(ctx, args[0], state.Since)
		}
		if !asked {
			return fmt.Errorf("the MCP server %s asks for nothing", args[0])
		}
		return nil
	}, "Approved: ")
}

// adding are the flags of "agent mcp add", in the words of Claude Code.
type adding struct {
	transport, scope string
	env, headers     []string
	clientID         string
	port             int
}

func addMCPCommand(with func(func(*cobra.Command, []string, *setup) error) func(*cobra.Command, []string) error) *cobra.Command {
	var a adding
	cmd := &cobra.Command{
		Use: "add NAME [flags] -- COMMAND [ARG]… | NAME [flags] URL | NAME JSON", Short: "Add a server",
		Example: `  agent mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  agent mcp add -e API_KEY='${API_KEY}' search -- search-server --fast
  agent mcp add -t http -s project docs https://example.com/mcp`,
		Args: cobra.MinimumNArgs(2),
		RunE: with(func(cmd *cobra.Command, args []string, s *setup) error { return addMCP(cmd, args, s, a) }),
	}
	f := cmd.Flags()
	f.StringVarP(&a.transport, "transport", "t", "", "stdio, http or sse; by what is given")
	f.StringVarP(&a.scope, "scope", "s", "user", "where it is written: user (your settings) or project (.mcp.json)")
	f.StringArrayVarP(&a.env, "env", "e", nil, "a variable of its environment, NAME=value; ${VAR} is filled in when it starts")
	f.StringArrayVarP(&a.headers, "header", "H", nil, `a header, "Name: value"; ${VAR} is filled in when it starts`)
	f.StringVar(&a.clientID, "client-id", "", "the OAuth client, where one was registered by hand")
	f.IntVar(&a.port, "callback-port", 0, "the port of this machine that a login comes back to")
	return cmd
}

// server makes the server's object of what was given.
func (a adding) server(args []string) (map[string]any, error) {
	if len(args) == 1 && strings.HasPrefix(args[0], "{") {
		var given map[string]any
		if err := json.Unmarshal([]byte(args[0]), &given); err != nil {
			return nil, usagef("the server is not JSON: %v", err)
		}
		return given, nil
	}
	server := map[string]any{}
	web := a.transport == mcp.HTTP || a.transport == mcp.SSE || a.transport == "" && len(args) == 1 && strings.Contains(args[0], "://")
	if a.transport != "" || web {
		server["type"] = a.transport
	}
	if web {
		if len(args) != 1 {
			return nil, usagef("a server behind HTTP is one address")
		}
		server["url"] = args[0]
		if a.transport == "" {
			server["type"] = mcp.HTTP
		}
	} else {
		server["command"] = args[0]
		if len(args) > 1 {
			server["args"] = args[1:]
		}
	}
	if a.clientID != "" || a.port > 0 {
		server["oauth"] = map[string]any{"clientId": a.clientID, "callbackPort": a.port}
	}
	return server, errors.Join(pairs(server, "env", a.env, "="), pairs(server, "headers", a.headers, ":"))
}

func pairs(server map[string]any, key string, list []string, between string) error {
	if len(list) == 0 {
		return nil
	}
	values := map[string]string{}
	for _, text := range list {
		name, value, ok := strings.Cut(text, between)
		if !ok || strings.TrimSpace(name) == "" {
			return usagef("%q must be a name, %s and a value", text, between)
		}
		values[strings.TrimSpace(name)] = strings.TrimLeft(value, " ")
	}
	server[key] = values
	return nil
}

func addMCP(cmd *cobra.Command, args []string, s *setup, a adding) error {
	name := args[0]
	server, err := a.server(args[1:])
	if err != nil {
		return err
	}
	encoded, err := json.Marshal(server)
	if err != nil {
		return err
	}
	scope := config.User
	if a.scope == "project" {
		scope = config.Project
	}
	// Variables may be set by the time it starts.
	anything := func(string) (string, bool) { return "https://example.com", true }
	if p := mcp.Parse([]config.MCPServer{{Name: name, JSON: encoded, Source: config.Source{Scope: scope}}}, s.project, nil, anything)[0].Problem; p != "" {
		return usagef("the server %s cannot be added: %s", name, p)
	}
	return s.writeMCP(cmd, name, a.scope, server)
}

// writeMCP writes a server, or takes it out where it is nil. What users write
// into a trusted project themselves they have approved.
func (s *setup) writeMCP(cmd *cobra.Command, name, scope string, server map[string]any) error {
	var value any
	if server != nil {
		value = server
	}
	switch scope {
	case "user":
		if err := config.Set(s.paths.UserFile(), "mcpServers."+name, value); err != nil {
			return err
		}
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s is written to %s.\n", inert.Line(name), s.paths.UserFile())
		return err
	case "project":
		folder, err := s.mcpFolder()
		if err != nil {
			return err
		}
		if err := config.SetMCP(folder, name, value); err != nil {
			return err
		}
		if value != nil && s.project != "" {
			if err := s.approveWritten(name); err != nil {
				return err
			}
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is written to %s.\n", inert.Line(name), config.MCPFile(folder))
		return err
	}
	return usagef("there is no scope %q; there are user and project", scope)
}

func (s *setup) approveWritten(name string) error {
	s.settings, _, _ = config.Load(s.paths, s.project, true, nil)
	servers, err := s.namedServers([]string{name})
	if err != nil || servers[0].Folder == "" {
		return err
	}
	return servers[0].Approve(s.trust())
}

func removeMCPCommand(with func(func(*cobra.Command, []string, *setup) error) func(*cobra.Command, []string) error) *cobra.Command {
	var scope string
	cmd := &cobra.Command{
		Use: "remove NAME", Aliases: []string{"rm"}, Short: "Remove a server from the file that has it", Args: cobra.ExactArgs(1),
		RunE: with(func(cmd *cobra.Command, args []string, s *setup) error {
			servers, err := s.namedServers(args)
			if err != nil {
				return err
			}
			from := servers[0].Source
			switch {
			case scope != "":
			case from.Scope == config.User:
				scope = "user"
			case from.Scope == config.Project && from.File == config.MCPFile(s.project):
				scope = "project"
			default:
				return fmt.Errorf("%s is in %s: remove it there", args[0], from)
			}
			if err := s.trust().RevokeItem("mcp", servers[0].Folder, args[0]); err != nil {
				return err
			}
			return s.writeMCP(cmd, args[0], scope, nil)
		}),
	}
	cmd.Flags().StringVarP(&scope, "scope", "s", "", "from where: user or project; by default where it is")
	return cmd
}
