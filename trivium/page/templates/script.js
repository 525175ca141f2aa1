"use strict";
(() => {
  const root = document.documentElement;
  const theme = document.getElementById("theme");
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const show = () => theme.setAttribute("aria-pressed", String(dark()));
  theme.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; show(); });
  show();
  for (const gallery of document.querySelectorAll("[data-gallery]")) {
    const items = [...gallery.querySelectorAll(".gallery > li")];
    const buttons = [...gallery.querySelectorAll("[data-filter]")];
    const count = gallery.querySelector("[data-count]");
    const apply = (filter) => {
      let shown = 0;
      for (const item of items) {
        item.hidden = filter !== "all" && !item.dataset.tags.split(" ").includes(filter);
        shown += !item.hidden;
      }
      count.textContent = `${shown} of ${items.length}`;
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.filter === filter));
    };
    for (const button of buttons) button.addEventListener("click", () => apply(button.dataset.filter));
    apply("all");
  }
  for (const browser of document.querySelectorAll("[data-browser]")) {
    const items = [...browser.querySelectorAll(".examples > li")];
    const selects = [...browser.querySelectorAll("[data-by]")];
    const count = browser.querySelector("[data-shown]");
    const apply = () => {
      let shown = 0;
      for (const item of items) {
        item.hidden = !selects.every(({ value, dataset }) => !value ||
          (dataset.by === "factor" ? item.dataset.factor.split(" ").includes(value) : item.dataset[dataset.by] === value));
        shown += !item.hidden;
      }
      count.textContent = `${shown} of ${items.length}`;
    };
    for (const select of selects) select.addEventListener("change", apply);
    apply();
  }
})();
