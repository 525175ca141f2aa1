"use strict";
(() => {
  const root = document.documentElement;
  const theme = document.getElementById("theme");
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const show = () => { theme.textContent = dark() ? "Switch to light" : "Switch to dark"; };
  theme.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; show(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  show();
  const header = document.querySelector("header");
  const below = () => { root.style.scrollPaddingTop = `${(getComputedStyle(header).position === "sticky" ? header.offsetHeight : 0) + 8}px`; };  // what a link leads to
  addEventListener("resize", below);
  below();
  const unfold = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    const fold = target && (target.querySelector(":scope > details.fold") || target.closest("details.fold"));
    if (fold && !fold.open) { fold.open = true; target.scrollIntoView(); }
  };
  addEventListener("hashchange", unfold);
  addEventListener("beforeprint", () => { for (const fold of document.querySelectorAll("details.fold")) fold.open = true; });
  unfold();
  const meanings = JSON.parse(document.getElementById("meanings").textContent);
  for (const head of document.querySelectorAll("main th:is([scope=col], [scope=row]):not(:has(:not(br)))")) {
    const text = head.firstChild?.textContent.trim() ?? "";  // up to a line break
    const short = text.split(",")[0].replace(/@\d+/, "@k").replace(/^δ of | \d+$/, "");
    const name = text in meanings || head.scope === "row" ? text : short;
    if (!(name in meanings)) continue;
    const tip = document.createElement("button");
    tip.type = "button"; tip.className = "term"; tip.textContent = text; tip.dataset.tip = meanings[name];
    tip.setAttribute("aria-label", `${text}: ${meanings[name]}`);
    head.firstChild.replaceWith(tip);
  }
  const reachable = () => {  // by keyboard, what scrolls sideways
    for (const box of document.querySelectorAll(".scroll"))
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0; else box.removeAttribute("tabindex");
  };
  addEventListener("resize", reachable);
  addEventListener("toggle", reachable, true);
  reachable();
  let tip = null;
  const hide = () => { tip?.remove(); tip = null; };
  const tell = ({ target }) => {
    hide();
    if (!target.matches?.(".term")) return;
    tip = document.createElement("div");
    tip.className = "tip"; tip.textContent = target.dataset.tip;
    document.body.append(tip);
    const at = target.getBoundingClientRect();
    tip.style.left = `${Math.max(8, Math.min(at.left, innerWidth - tip.offsetWidth - 8)) + scrollX}px`;
    tip.style.top = `${at.bottom + 6 + scrollY}px`;
  };
  for (const kind of ["mouseover", "focusin", "click"]) addEventListener(kind, tell);
  addEventListener("keydown", ({ key }) => { if (key === "Escape") hide(); });
  // A list shows those that its buttons and selects choose, at first a few of them, and has a button for the rest.
  for (const list of document.querySelectorAll("[data-gallery], [data-browser]")) {
    const items = [...list.querySelectorAll(":scope > ol > li")];
    const buttons = [...list.querySelectorAll("[data-filter]")];
    const selects = [...list.querySelectorAll("[data-by]")];
    const more = document.createElement("button");
    let few = selects.length ? 12 : 4, filter = "all";
    const fits = ({ dataset }) => (filter === "all" || dataset.tags.split(" ").includes(filter)) &&
      selects.every(({ value, dataset: { by } }) => !value || [dataset[by], ...dataset[by].split(" ")].includes(value));
    const apply = () => {
      const fitting = items.filter(fits);
      const shown = fitting.slice(0, few);
      for (const item of items) item.hidden = !shown.includes(item);
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.filter === filter));
      list.querySelector("[aria-live]").textContent = `${shown.length} of ${fitting.length}`;
      more.hidden = shown.length === fitting.length;
      more.textContent = `Show all ${fitting.length}`;
    };
    more.type = "button";
    list.append(more);
    more.addEventListener("click", () => { few = items.length; apply(); });
    for (const button of buttons) button.addEventListener("click", () => { filter = button.dataset.filter; apply(); });
    for (const select of selects) select.addEventListener("change", apply);
    apply();
  }
})();
