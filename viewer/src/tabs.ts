// Tabs, as the ARIA practices describe them: arrows move between them, the panel follows.

import { h } from "./dom";

export function make_tabs(panels: [title: string, content: HTMLElement][]) {
  const list = h("div", { role: "tablist", "aria-label": "What is known of the motion" });
  const element = h("section", { class: "side", "aria-label": "Details" }, list);
  const tabs = panels.map(([title], i) =>
    h("button", { type: "button", role: "tab", id: `tab-${i}`, "aria-controls": `panel-${i}`, onclick: () => choose(i) }, title));
  const bodies = panels.map(([, content], i) =>
    h("div", { role: "tabpanel", id: `panel-${i}`, "aria-labelledby": `tab-${i}`, tabindex: 0 }, content));
  list.append(...tabs);
  element.append(...bodies);
  function choose(index: number, focus = false) {
    tabs.forEach((tab, i) => {
      tab.setAttribute("aria-selected", String(i === index));
      tab.tabIndex = i === index ? 0 : -1;
      bodies[i].hidden = i !== index;
    });
    panels[index][1].dispatchEvent(new CustomEvent("shown"));
    if (focus) tabs[index].focus();
  }
  list.addEventListener("keydown", (e) => {
    const at = tabs.indexOf(document.activeElement as HTMLButtonElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[e.key];
    if (at < 0 || to === undefined) return;
    e.preventDefault();
    e.stopPropagation();
    choose((to + tabs.length) % tabs.length, true);
  });
  choose(0);
  return { element, choose };
}
