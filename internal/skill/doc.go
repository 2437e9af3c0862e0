// Package skill finds the Markdown files by which people teach an agent: skills,
// prompt templates, roles, and profiles of agents.
//
//	skills/<name>/SKILL.md   what to do in a kind of work; listed to the model,
//	skills/<name>.md         its text is given when it is needed
//	commands/<name>.md       a prompt of the user's, with places for arguments
//	roles/<name>.md          who the agent is to be from now on
//	agents/<name>.md         who does a task
//
// These folders are looked for in .banyan, .agents and .claude of a project,
// from the working folder up to the project's root, then in the user's config
// folder, then in ~/.agents and ~/.claude. The first of a name is the one that
// counts; the others are reported, as is every file that cannot be used.
//
// The data is a [Library]: names, descriptions and where they are. It never
// changes once it is loaded. The text of a skill and of a template is read when
// it is used.
//
// What a project says counts only when its folder is trusted, which the caller
// knows: it gives a root, or none. Only regular files are read, of limited size,
// and of a project only what no link leads out of. The package runs nothing: a
// skill's "allowed-tools" allows nothing, and a command in a template is text.
package skill
