// The panels that are read: equations, checks, events, model.

import katex from "katex";
import { colour } from "./colours";
import type { Clock } from "./clock";
import { csv_of } from "./csv";
import { h, nice, save, shorter, visible } from "./dom";
import { event_colour } from "./plots";
import type { Report } from "./report";

/// Remarks are comments of the LaTeX text.
const plain = (note: string) => visible(note.replace(/\\ddot q/g, "q̈").replace(/\\dot s/g, "ṡ").replace(/\\ge\b/g, "≥"));

/// KaTeX only typesets: commands that would link, load or mark up are refused (trust), macros cannot run away (maxExpand).
export function equations_panel(report: Report): HTMLElement {
  const panel = h("div", { class: "equations" });
  panel.append(h("p", { class: "lead" }, "M q̈ = Q + Qᶜ, A q̈ = b: derived from the model, exactly; nothing is approximated."));
  let done = false;
  const typeset = () => {
    if (done) return;
    done = true;
    for (const block of report.equations) {
      if (block.name) panel.append(h("h3", {}, block.name));
      if (block.latex) {
        const place = h("div", { class: "formula", tabindex: 0, role: "group", "aria-label": block.name || "Equation" });
        panel.append(place);
        // Rows of fractions need room between them. Spaces count as macros, of which a long formula has many.
        const latex = block.latex.replace(/ \\\\\n(?!\\end)/g, " \\\\[0.45em]\n");
        try {
          katex.render(latex, place, {
            displayMode: true, trust: false, strict: "ignore", throwOnError: true, maxExpand: 20000, maxSize: 20, output: "htmlAndMathml",
          });
        } catch {
          place.replaceChildren(h("code", {}, visible(block.latex)));
        }
      }
      if (block.note) panel.append(h("p", { class: "note" }, plain(block.note)));
    }
    if (!report.equations.length) panel.append(h("p", {}, "There are none in this report."));
  };
  panel.addEventListener("shown", typeset);
  return panel;
}

const number = (x: unknown, digits = 4) => (typeof x === "number" ? nice(x, digits) : "–");
const list = (x: unknown): string[] => (Array.isArray(x) ? x.map(String) : []);

export function checks_panel(report: Report): HTMLElement {
  const s = report.summary;
  const trusted = s.trusted === true;
  const rows: [string, string, string][] = [
    ["Largest violation of a constraint", number(s.position_violation), "|φ| at any step or sample, in the units of the constraint"],
    ["Largest violation of its rate", number(s.velocity_violation), "|φ̇| and |ψ|"],
    ["Kinetic energy, start → end", `${number(s.kinetic_start)} → ${number(s.kinetic_end)}`, "½ q̇ᵀM q̇"],
    ["Work of given forces", number(s.work_given), ""],
    ["Work of ideal constraint forces", number(s.work_ideal), "only where time is in a constraint"],
    ["Work of non-ideal constraint forces", number(s.work_nonideal), ""],
    ["Work of control forces", number(s.work_control), ""],
    ["Balance at the end", number(s.balance), "change of kinetic energy less all works: zero for the exact motion"],
    ["Largest balance on the way", `${number(s.balance_largest)} of ${number(s.balance_allowed)} allowed`, "what tolerance and number of steps explain, at most a thousandth of the energies"],
    ["Global error", s.global_error === null || s.global_error === undefined ? "not estimated" : number(s.global_error),
      s.global_error == null ? "the checks above do not see it; run --verify estimates it by a second run" : "difference to a second run at a hundredth of the tolerance"],
    ["Method, tolerance", `${String(s.method ?? "–")}, ${number(s.tolerance)}`, "of each step, relative to the typical size of each value"],
    ["Steps, evaluations", `${number(s.steps, 8)}, ${number(s.evaluations, 8)}`, `${number(s.rejected, 8)} steps rejected`],
    ["Time of the motion", `${number(s.begin, 8)} to ${number(s.end, 8)}`, `computed in ${number(s.wall_time, 3)} s`],
  ];
  // What [summary] of the model asks for comes first.
  const values = Object.entries((s.values ?? {}) as Record<string, unknown>);
  rows.unshift(...values.map(([name, value]): [string, string, string] => [visible(name), number(value, 8), "of the whole motion, as [summary] asks for"]));
  const table = h("table", {}, h("caption", { class: "sr" }, "What was checked of this run"));
  const body = h("tbody");
  for (const [what, value, about] of rows)
    body.append(h("tr", {}, h("th", { scope: "row" }, what), h("td", { class: "value" }, value), h("td", { class: "about" }, about)));
  table.append(body);
  const panel = h("div", { class: "certificate" },
    h("p", { class: trusted ? "verdict good" : "verdict bad" }, visible(report.trust)));
  for (const line of [...(s.message ? [String(s.message)] : []), ...list(s.reasons)]) panel.append(h("p", { class: "reason" }, visible(line)));
  panel.append(h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Checks" }, table));
  const notes = list(s.notes);
  if (notes.length) panel.append(h("h3", {}, "Notes"), h("ul", {}, ...notes.map((n) => h("li", {}, visible(n)))));
  return panel;
}

export function events_panel(report: Report, clock: Clock): HTMLElement {
  const panel = h("div", { class: "events" });
  if (!report.events.length) {
    panel.append(h("p", {}, "Nothing happened on the way: no impact, no release, no singular position, no event of the model."));
    return panel;
  }
  const items = report.events.slice(0, 300).map((e) => {
    const what = [e.name, ...e.constraints].filter(Boolean).map((n) => shorter(n, 40)).join(", ");
    return h("li", {}, h("button", { type: "button", onclick: () => clock.set(e.time) },
      h("span", { class: "swatch", style: `background:${colour(event_colour(e.kind))}`, "aria-hidden": "true" }),
      h("span", { class: "when" }, `t = ${nice(e.time, 7)}`), h("span", {}, e.kind), h("span", { class: "name" }, what)));
  });
  panel.append(h("p", {}, "Go to an event:"), h("ol", {}, ...items));
  const more = report.events.length - items.length + report.events_left_out;
  if (more > 0) panel.append(h("p", {}, `and ${more} more.`));
  return panel;
}

/// The words of a line of TOML by their kind.
function coloured(line: string): Node[] {
  const parts: Node[] = [];
  const pattern = /(#.*$)|("(?:[^"\\]|\\.)*"|'[^']*')|(^\s*\[.*\])|(^\s*[^=#"[\]{}]+?(?=\s*=))/gu;
  let last = 0;
  for (const match of line.matchAll(pattern)) {
    parts.push(document.createTextNode(line.slice(last, match.index)));
    const kind = match[1] ? "comment" : match[2] ? "string" : match[3] ? "section" : "key";
    parts.push(h("span", { class: kind }, match[0]));
    last = match.index + match[0].length;
  }
  parts.push(document.createTextNode(line.slice(last)));
  return parts;
}

export function model_panel(report: Report): HTMLElement {
  const code = h("code");
  const text = visible(report.model.text.replace(/\r\n?/g, "\n"));
  if (text.length < 60000) text.split("\n").forEach((line) => code.append(...coloured(line), "\n"));
  else code.textContent = text;
  const panel = h("div", { class: "model" },
    h("div", { class: "panel-tools" },
      h("span", { class: "hint" }, shorter(report.model.file, 80)),
      h("button", { type: "button", onclick: () => save(report.model.file.split(/[\\/]/).pop() || "model.toml", "application/toml", report.model.text) }, "Save the model"),
      h("button", { type: "button", onclick: () => save((report.title || "motion") + ".csv", "text/csv", csv_of(report)) }, "Save the data as CSV")),
    h("pre", { tabindex: 0, role: "region", "aria-label": "Model file", dir: "ltr" }, code));
  if (report.model.cut) panel.append(h("p", { class: "note" }, "The file is longer; this is its beginning."));
  if (report.parameters.length) {
    const body = h("tbody");
    for (const p of report.parameters) body.append(h("tr", {}, h("th", { scope: "row" }, shorter(p.name, 40)), h("td", { class: "value" }, nice(p.value, 8))));
    panel.append(h("h3", {}, "Parameters of this run"), h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Parameters" }, h("table", {}, body)));
  }
  return panel;
}
