"use strict";
(() => {
  const root = document.documentElement;
  const theme = document.getElementById("theme");
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const dark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  const toggle = document.getElementById("show-tokens");
  if (!toggle) return;
  toggle.hidden = false;
  const panel = document.getElementById("tokens");
  const readout = panel.querySelector(".readout");
  const rest = readout.textContent;

  function about(row, i, act) {
    const id = `token ${i + 1} of ${row.ids.length}, id ${row.ids[i]}`;
    if (act < 0) return `${id}: fed to the policy, carries no loss`;
    const logp = row.logp[act];
    const how = logp === null ? "none" : `${logp} (p ${Math.exp(logp).toPrecision(3)})`;
    return `${id}: sampled, log-probability ${how}, weights version ${row.version[act]}`;
  }

  function shade(logp) {
    const p = Math.exp(logp);
    return p < 0.1 ? "p0" : p < 0.35 ? "p1" : p < 0.65 ? "p2" : p < 0.9 ? "p3" : "p4";
  }

  // The tokens are data until somebody asks for them: a long episode has many.
  function build() {
    const data = JSON.parse(document.getElementById("token-data").textContent);
    panel.classList.toggle("ids", !data.texts);
    data.rows.forEach((row, number) => {
      const line = document.createElement("div");
      line.className = "row";
      const head = document.createElement("small");
      head.textContent = `row ${number + 1}: ${row.ids.length} tokens, ${row.logp.length} sampled`;
      line.append(head);
      let sampled = 0;
      row.ids.forEach((id, i) => {
        const token = document.createElement("span");
        const act = row.mask[i] === "1" ? sampled++ : -1;
        token.textContent = data.texts ? data.texts[id].replaceAll("\n", "\u21b5\n") : id;
        token.className = act < 0 ? "token" : `token act ${shade(row.logp[act])}`;
        token.title = about(row, i, act);
        line.append(token);
      });
      panel.append(line);
    });
    panel.addEventListener("mouseover", (event) => {
      readout.textContent = event.target.classList.contains("token") ? event.target.title : rest;
    });
  }

  function show(open) {
    if (open && !panel.querySelector(".row")) build();
    panel.hidden = !open;
    toggle.setAttribute("aria-expanded", String(open));
    toggle.textContent = open ? "Hide tokens" : "Show tokens";
  }

  toggle.addEventListener("click", () => show(panel.hidden));
  if (location.hash === "#tokens") show(true);
})();
