import "katex/dist/katex.min.css";
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { Clock } from "./clock";
import { colour, is_dark } from "./colours";
import { csv_of } from "./csv";
import { h, nice, save, shorter, visible } from "./dom";
import { Picture } from "./picture";
import { event_colour, Plots } from "./plots";
import { read_report, type Report } from "./report";
import { make_tabs } from "./tabs";
import { checks_panel, equations_panel, events_panel, model_panel } from "./texts";
import { listen_to_keys, make_help } from "./keys";
import { make_transport } from "./transport";

const theme_words = { auto: "Theme: as the system", light: "Theme: light", dark: "Theme: dark" };

function start(report: Report) {
  const root = document.documentElement;
  const title = shorter(report.title || report.model.file || "A motion", 200);
  document.title = title;
  const last = report.t[report.rows - 1];
  const clock = new Clock(report.t[0], last);
  const recolour: (() => void)[] = [];

  // Head: what this is, whether it is to be trusted.
  const status = String(report.summary.status ?? "");
  const good = report.summary.trusted === true && (status === "done" || status === "stopped");
  const theme = h("button", { type: "button", class: "theme" });
  let chosen: keyof typeof theme_words = "auto";
  const set_theme = (next: keyof typeof theme_words) => {
    chosen = next;
    if (next === "auto") delete root.dataset.theme;
    else root.dataset.theme = next;
    theme.textContent = next === "auto" ? "◐" : next === "light" ? "☀" : "☾";
    theme.setAttribute("aria-label", theme_words[next]);
    theme.title = theme_words[next];
    recolour.forEach((f) => f());
  };
  const next_theme = () => set_theme(chosen === "auto" ? (is_dark() ? "light" : "dark") : chosen === "light" ? "dark" : "light");
  theme.addEventListener("click", next_theme);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => recolour.forEach((f) => f()));
  const help = make_help();
  const badge = h("button", { type: "button", class: good ? "badge good" : "badge bad", title: "What was checked of this run" },
    good ? (typeof report.summary.global_error === "number" ? "✓ checked, second run agrees" : "✓ passes its checks") : "! " + (status === "suspect" || status === "done" ? "not to be trusted" : visible(status)));
  document.getElementById("head")!.append(
    h("div", { class: "title" }, h("h1", {}, title), badge),
    h("div", { class: "head-tools" },
      h("button", { type: "button", onclick: () => help.showModal(), "aria-label": "Keys", title: "Keys (?)" }, "?"), theme));

  // The picture and the transport below it.
  const overlay = h("div", { class: "names", "aria-hidden": "true" });
  let picture: Picture | null = null;
  let trouble = "";
  if (report.view)
    try {
      picture = new Picture(report, report.view, overlay);
    } catch (e) {
      trouble = "This browser shows no WebGL, so there is no picture: " + String((e as Error).message ?? e);
    }
  const stage = h("section", { class: "stage", "aria-label": "Animation" });
  const canvas_frame = h("div", { class: "canvas" });
  if (picture) {
    const p = picture;
    p.canvas.setAttribute("role", "img");
    p.canvas.setAttribute("aria-label", `Moving picture of ${title}. Drag to ${report.view!.dimension === 3 ? "turn" : "move"} it.`);
    p.canvas.tabIndex = 0;
    canvas_frame.append(p.canvas, overlay, stage_tools(report, p, recolour));
    for (const item of report.view!.items) if (item.kind === "point" && item.name) p.add_name(item.at, shorter(item.name, 24));
    clock.on_time((time) => p.show(time));
    recolour.push(() => p.recolour());
    stage.append(canvas_frame);
  } else if (trouble) {
    stage.append(h("p", { class: "note" }, trouble));
  }
  stage.append(make_transport(report, clock, event_colour, recolour));
  if (report.about) stage.append(h("p", { class: "about" }, visible(report.about)));

  // The panels beside it.
  const plots = new Plots(report, clock);
  recolour.push(() => plots.recolour());
  const tabs = make_tabs([
    ["Plots", plots.element],
    ["Equations", equations_panel(report)],
    ["Checks", checks_panel(report)],
    [report.events.length ? `Events (${report.events.length + report.events_left_out})` : "Events", events_panel(report, clock)],
    ["Model", model_panel(report)],
  ]);
  badge.addEventListener("click", () => tabs.choose(2, true));
  const main = document.getElementById("main")!;
  main.replaceChildren(stage, tabs.element);
  main.classList.toggle("no-picture", !picture);

  const left_out = report.columns_left_out ? ` ${report.columns_left_out} columns are left out.` : "";
  document.body.append(help, h("footer", {},
    h("span", {}, `${visible(report.program)} · ${report.rows} rows, ${visible(report.row_spacing)}.${left_out}`),
    h("button", { type: "button", class: "link", onclick: () => save((report.title || "motion") + ".csv", "text/csv", csv_of(report)) }, "Save the data as CSV")));

  listen_to_keys({ clock, report, picture, plots, help, next_theme });
  set_theme("auto");
  clock.set(report.t[0]);
  if (picture && last > report.t[0] && !matchMedia("(prefers-reduced-motion: reduce)").matches) clock.play(true);
}

/// What is shown in the picture: force arrows and their size, names, the whole view.
function stage_tools(report: Report, picture: Picture, recolour: (() => void)[]): HTMLElement {
  const tools = h("div", { class: "stage-tools" });
  const words: Record<string, string> = { ideal: "ideal", nonideal: "non-ideal", control: "control" };
  if (picture.roles.size) {
    const size = h("input", {
      type: "range", min: -2, max: 2, step: 0.05, value: 0, "aria-label": "Length of the force arrows", title: "Length of the force arrows",
      oninput: () => {
        picture.force_size = 2 ** size.valueAsNumber;
        picture.refresh();
      },
    });
    const check = h("input", {
      type: "checkbox", checked: true, id: "forces",
      onchange: () => {
        picture.forces_shown = check.checked;
        picture.refresh();
      },
    });
    tools.append(h("label", { for: "forces" }, check, "constraint forces"), size);
    for (const role of picture.roles) {
      const swatch = h("span", { class: "swatch", "aria-hidden": "true" });
      const paint = () => (swatch.style.background = colour(role));
      paint();
      recolour.push(paint);
      tools.append(h("span", { class: "key" }, swatch, words[role] ?? role));
    }
  }
  if (report.view!.items.some((i) => i.kind === "point" && i.name)) {
    const check = h("input", {
      type: "checkbox", id: "names",
      onchange: () => {
        picture.names_shown = check.checked;
        picture.refresh();
      },
    });
    tools.append(h("label", { for: "names" }, check, "names"));
  }
  tools.append(h("button", { type: "button", class: "small", title: "See the whole motion (f)", onclick: () => picture.fit() }, "Fit"));
  return tools;
}

try {
  start(read_report(document.getElementById("report")!.textContent!));
} catch (e) {
  document.getElementById("main")!.replaceChildren(h("p", { class: "verdict bad" }, "This report cannot be shown: " + nice_error(e)));
  throw e;
}
function nice_error(e: unknown) {
  return e instanceof Error ? visible(e.message) : nice(NaN);
}
