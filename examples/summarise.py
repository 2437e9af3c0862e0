#!/usr/bin/env python3
"""A custom summariser: compactions and branches that are left are summed up by
rules instead of a model. It keeps what the user asked for, word for word, and the
last thing that was answered.
"""
import json
import sys


def text_of(content):
    if isinstance(content, str):
        return content
    return " ".join(block.get("text", "") for block in content if block.get("type") == "text")


def summary(entries):
    """Entries come as they stand in the session's file."""
    asked, answered = [], ""
    for entry in entries:
        message = entry.get("message", {})
        if message.get("role") == "user":
            asked.append(text_of(message["content"]).strip())
        elif message.get("role") == "assistant" and text_of(message["content"]).strip():
            answered = text_of(message["content"]).strip()
        elif entry.get("type") in ("compaction", "branch_summary"):
            asked.append("(before) " + entry.get("summary", ""))
    lines = ["## Asked for"] + [f"- {text[:500]}" for text in asked]
    if answered:
        lines += ["", "## The last answer", answered[:2000]]
    return "\n".join(lines)


def event(params):
    if params["event"] == "session_before_compact":
        ids = [entry["id"] for entry in params["path"]]
        return {"summary": summary(params["path"][:ids.index(params["firstKeptEntryId"])])}
    if params["event"] == "session_before_tree" and params["summarize"]:
        return {"summary": summary(params["left"])}
    return {}


for line in map(json.loads, sys.stdin):
    method = line.get("method")
    if method == "shutdown":
        break
    if "id" not in line:
        continue
    result = {}
    if method == "initialize":
        result = {"protocol": 1, "description": "summaries by rules", "events": ["session_before_compact", "session_before_tree"]}
    elif method == "event":
        result = event(line["params"])
    print(json.dumps({"jsonrpc": "2.0", "id": line["id"], "result": result}), flush=True)
