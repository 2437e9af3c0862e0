"use strict";
// Shows the branch that an entry is on, in place of the one before. Without this
// script the page shows the active path, and by its address any one section.
(() => {
  const strands = [...document.querySelectorAll("section[data-strand]")];
  const tree = document.getElementById("tree");
  const rows = [...tree.querySelectorAll("a")];
  const num = (s, name) => Number(s.dataset[name]);

  // show makes the path through an entry visible, to its newest end.
  function show(id, move) {
    const entry = id && document.getElementById(id);
    const at = entry && entry.closest("section[data-strand]");
    if (!at) return;
    const on = new Set();
    for (let s = at; s; s = strands[num(s, "up")]) on.add(s);
    for (let s = at; s; s = strands[num(s, "down")]) on.add(s);
    for (const s of strands) if (s.hidden === on.has(s)) s.hidden = !on.has(s);
    for (const a of rows) {
      const target = document.getElementById(a.hash.slice(1));
      a.parentNode.classList.toggle("on", !!target && on.has(target.closest("section")));
      if (a.hash === "#" + id) {
        a.setAttribute("aria-current", "true");
        if (move) a.scrollIntoView({block: "nearest"});
      } else if (a.hasAttribute("aria-current")) a.removeAttribute("aria-current");
    }
    if (move) entry.scrollIntoView();
  }

  // look leaves the rows of the tree that have all words of the text.
  function look(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    for (const a of rows) {
      const said = words.length ? a.textContent.toLowerCase() : "";
      a.parentNode.hidden = !words.every((w) => said.includes(w));
    }
  }

  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = "Find in the tree";
  field.setAttribute("aria-label", "Find in the tree");
  let pause = 0;
  field.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(() => look(field.value), 120);
  });
  tree.prepend(field);
  const keys = document.createElement("p");
  keys.className = "keys";
  keys.textContent = "/ find · ↑ ↓ in the tree · Enter go there · [ ] other branch · j k next and previous turn · o unfold all";
  tree.append(keys);

  // step moves the focus along the rows that are seen.
  function step(by) {
    const seen = rows.filter((a) => !a.parentNode.hidden);
    const at = seen.indexOf(document.activeElement);
    (seen[Math.min(Math.max(at + by, 0), seen.length - 1)] || field).focus();
  }

  function turn(by) {
    const turns = [...document.querySelectorAll("section:not([hidden]) > article.user")];
    const tops = turns.map((t) => t.getBoundingClientRect().top);
    const at = by > 0 ? tops.findIndex((y) => y > 40) : tops.findLastIndex((y) => y < -5);
    if (at >= 0) turns[at].scrollIntoView();
  }

  function sibling(rel) {
    const seen = [...document.querySelectorAll('section:not([hidden]) > .siblings a[rel="' + rel + '"]')];
    const below = seen.find((a) => a.getBoundingClientRect().top > 0);
    const to = below || seen.pop();
    if (to) location.hash = to.hash;
  }

  let open = false;
  const act = {
    "/": () => field.focus(),
    "[": () => sibling("prev"),
    "]": () => sibling("next"),
    j: () => turn(1),
    k: () => turn(-1),
    o: () => {
      open = !open;
      for (const d of document.querySelectorAll("section:not([hidden]) details")) d.open = open;
    },
  };
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const inTree = tree.contains(e.target);
    if (inTree && (e.key === "ArrowDown" || e.key === "ArrowUp")) {
      step(e.key === "ArrowDown" ? 1 : -1);
    } else if (e.target === field) {
      if (e.key !== "Escape") return;
      field.value = "";
      look("");
      field.blur();
    } else if (act[e.key]) act[e.key]();
    else return;
    e.preventDefault();
  });
  addEventListener("hashchange", () => show(location.hash.slice(1), true));
  if (location.hash) show(location.hash.slice(1), true);
})();
