#!/usr/bin/env python3
"""A permission gate: what must never run is denied, what leaves the machine is
asked about, whatever the permission mode is. An extension can only tighten the
user's rules: an allow of its own would beat none of them.
"""
import json
import re
import sys

NEVER = [r"\bsudo\b", r"\brm\s+-\w*[rf]\w*\s+/(\s|$)", r"\bmkfs\b"]
ASK = [r"\bgit\s+push\b", r"\bnpm\s+publish\b", r"\bcurl\b.*\|\s*(ba)?sh"]

questions = {}  # ids of our questions, with the ids of the events that wait for them
asked = 0


def send(**line):
    print(json.dumps({"jsonrpc": "2.0", **line}), flush=True)


def initialize(line):
    send(id=line["id"], result={
        "protocol": 1, "description": "denies and asks, by patterns",
        "events": ["tool_call"],
    })


def event(line):
    """tool_call: say what may happen, or ask the user first and answer later."""
    global asked
    call = line["params"]
    text = call["arguments"].get("command", "") if call["toolName"] == "bash" else ""
    if any(re.search(p, text) for p in NEVER):
        send(id=line["id"], result={"decision": "deny", "reason": "the gate never lets this run"})
    elif any(re.search(p, text) for p in ASK):
        asked += 1
        questions[asked] = line["id"]
        send(id=asked, method="confirm", params={"title": "Let this leave the machine?", "text": text})
    else:
        send(id=line["id"], result={})


def answer(line):
    waiting = questions.pop(line["id"], None)
    if waiting is not None:
        yes = (line.get("result") or {}).get("ok")
        send(id=waiting, result={} if yes else {"decision": "deny", "reason": "the user did not want it"})


def cancel(line):
    """Nobody waits for an answer any more: forget the question."""
    for question, waiting in list(questions.items()):
        if waiting == line["params"]["id"]:
            del questions[question]


handlers = {"initialize": initialize, "event": event, "cancel": cancel, None: answer}

for text in sys.stdin:
    line = json.loads(text)
    if line.get("method") == "shutdown":
        break
    handlers.get(line.get("method"), lambda _: None)(line)
