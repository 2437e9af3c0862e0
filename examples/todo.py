#!/usr/bin/env python3
"""A list of things to do, kept in the session: another branch, another list.

The model has the tool todo_list; /todos shows the list or changes it; a widget
above the editor shows what is open. See docs/extensions.md for the protocol.
"""
import json
import sys

todos = []  # [{"text": …, "done": …}], as of the newest entry on the path


def send(**line):
    print(json.dumps({"jsonrpc": "2.0", **line}), flush=True)


def keep():
    """Keep the list in the session, and show it."""
    send(id="keep", method="append_entry", params={"data": todos})
    show()


def show():
    done = sum(t["done"] for t in todos)
    send(method="status", params={"text": f"todo {done}/{len(todos)}" if todos else ""})
    lines = [("[x] " if t["done"] else "[ ] ") + t["text"] for t in todos]
    send(method="widget", params={"lines": lines[:10]})


def change(text):
    """Do what a line says: add <text>, done <number>, clear, or nothing."""
    global todos
    verb, _, rest = text.strip().partition(" ")
    if verb == "add" and rest:
        todos.append({"text": rest, "done": False})
    elif verb == "done" and rest.isdigit() and 0 < int(rest) <= len(todos):
        todos[int(rest) - 1]["done"] = True
    elif verb == "clear":
        todos = []
    elif verb:
        raise ValueError(f"write add <text>, done <number up to {len(todos)}>, or clear")
    if verb:
        keep()
    return "\n".join(f"{i + 1}. {'[x]' if t['done'] else '[ ]'} {t['text']}" for i, t in enumerate(todos)) or "Nothing is to be done."


def initialize(_):
    return {
        "protocol": 1,
        "version": "1.0",
        "description": "a list of things to do, one for each branch",
        "tools": [{
            "name": "todo_list",
            "description": "Keep a list of things to do that the user sees. Returns the list.",
            "access": "read",
            "parameters": {
                "type": "object",
                "properties": {"change": {"type": "string", "description": "add <text>, done <number>, clear; empty to read"}},
                "additionalProperties": False,
            },
        }],
        "commands": [{"name": "todos", "arguments": "[add <text>|done <number>|clear]", "description": "things to do"}],
        "keys": [{"key": "ctrl+x d", "command": "todos", "description": "show the things to do"}],
    }


def state(params):
    """The leaf is elsewhere: the list is what the newest of our entries says."""
    global todos
    todos = params["entries"][-1]["data"] if params["entries"] else []
    show()


def tool(params):
    try:
        return {"content": change(params["arguments"].get("change", ""))}
    except ValueError as wrong:
        return {"content": str(wrong), "isError": True}


def command(params):
    send(method="notify", params={"text": change(params["arguments"])})
    return {}


handlers = {"initialize": initialize, "state": state, "tool": tool, "command": command}

for text in sys.stdin:
    line = json.loads(text)
    if line.get("method") == "shutdown":
        break
    handler = handlers.get(line.get("method"))
    if handler is None:
        continue  # an answer to one of ours, or an event that we did not ask for
    try:
        result = handler(line.get("params") or {})
        if "id" in line:
            send(id=line["id"], result=result)
    except Exception as wrong:
        if "id" in line:
            send(id=line["id"], error={"code": 1, "message": str(wrong)})
