// Plots of the columns against time. All share the range of time, the cursor and the mark of the time that is shown.

import uPlot from "uplot";
import { colour, series as series_colours } from "./colours";
import type { Clock } from "./clock";
import { h, nice, save, shorter, visible } from "./dom";
import { row_at, type Column, type Report } from "./report";
import { plot_svg } from "./svg";

interface Group {
  key: string;
  title: string;
  about: string;
  columns: Column[];
}

const titles: [key: string, title: string, about: string][] = [
  ["q", "Coordinates", "q"],
  ["states", "States", "of first order"],
  ["qd", "Velocities", "q̇"],
  ["qdd", "Accelerations", "q̈"],
  ["outputs", "Outputs", "of the model"],
  ["Qi", "Ideal constraint forces", "Qᶜᵢ = Aᵀλ, by coordinate"],
  ["Qni", "Non-ideal constraint forces", "Qᶜₙᵢ, by coordinate"],
  ["Qcontrol", "Control forces", "by coordinate"],
  ["Qc", "Constraint forces", "Qᶜ = Qᶜᵢ + Qᶜₙᵢ, by coordinate"],
  ["lambda", "Multipliers", "λ, by constraint"],
  ["normal", "Normal forces", "of constraints with friction"],
  ["friction", "Friction", "along the slip"],
  ["gap", "Gaps", "of one-sided constraints: zero where they touch"],
  ["energy", "Energies", "kinetic, potential and their sum"],
  ["works", "Works", "done since the start, by kind of force"],
  ["work", "Work of constraints", "∫ λ (A q̇) dt, by constraint"],
  ["power", "Power of constraints", "λ (A q̇), by constraint"],
  ["residual", "Constraint residuals", "left − right, by constraint"],
];

function groups_of(report: Report): Group[] {
  const by_key = new Map<string, Column[]>();
  for (const column of report.columns) {
    if (column.group === "t") continue;
    by_key.set(column.group, [...(by_key.get(column.group) ?? []), column]);
  }
  const groups: Group[] = [];
  for (const [key, title, about] of titles) {
    const columns = by_key.get(key);
    if (columns) groups.push({ key, title, about, columns });
    by_key.delete(key);
  }
  for (const [key, columns] of by_key) groups.push({ key, title: visible(key), about: "", columns });
  return groups;
}

const is_zero = (c: Column) => c.values.every((x) => x === 0 || Number.isNaN(x));
const event_colours: Record<string, string> = { impact: "red", contact: "brown", release: "green", singular: "purple", stick: "teal", slip: "pink" };
export const event_colour = (kind: string) => event_colours[kind] ?? "grey";

export class Plots {
  readonly element = h("div", { class: "plots" });
  private panels: Panel[] = [];
  range: [number, number];
  hover: number | null = null;

  constructor(readonly report: Report, readonly clock: Clock) {
    const end = clock.end > clock.begin ? clock.end : clock.begin + 1;
    this.range = [clock.begin, end];
    const zero: string[] = [];
    let open = 3;
    const first = new Set(["q", "outputs", "energy", "Qi"]);
    const tools = h("div", { class: "plot-tools" },
      h("span", { class: "hint" }, "Drag across a plot to zoom, double-click to see everything, click to go there."),
      h("button", { type: "button", onclick: () => this.zoom(0.5), title: "Zoom in around the time shown (i)" }, "Zoom in"),
      h("button", { type: "button", onclick: () => this.zoom(2), title: "Zoom out (o)" }, "Zoom out"),
      h("button", { type: "button", onclick: () => this.reset(), title: "The whole time (0)" }, "Whole time"));
    this.element.append(tools);
    for (const group of groups_of(report)) {
      // The sum says nothing new where one part is nothing.
      if (group.key === "Qc" && report.columns.filter((c) => c.group === "Qni").every(is_zero)) continue;
      if (group.columns.every(is_zero)) {
        zero.push(group.title.toLowerCase());
        continue;
      }
      const panel = new Panel(this, group, first.has(group.key) && open-- > 0);
      this.panels.push(panel);
      this.element.append(panel.element);
    }
    if (zero.length) this.element.append(h("p", { class: "zero" }, "Zero all the time: " + zero.join(", ") + "."));
    clock.on_time((time) => this.show(time));
  }

  show(time: number) {
    for (const panel of this.panels) panel.show(time);
  }
  set_range(min: number, max: number) {
    const { begin, end } = this.clock;
    const whole = end > begin ? end - begin : 1;
    if (!(max - min > 1e-9 * whole)) return;
    const width = Math.min(max - min, whole);
    const from = Math.max(begin, Math.min(min, begin + whole - width));
    this.range = [from, from + width];
    for (const panel of this.panels) panel.apply_range();
  }
  zoom(factor: number) {
    const [min, max] = this.range, width = (max - min) * factor;
    const middle = Math.min(max, Math.max(min, this.clock.time));
    this.set_range(middle - width * ((middle - min) / (max - min)), middle + width * ((max - middle) / (max - min)));
  }
  reset() {
    const end = this.clock.end > this.clock.begin ? this.clock.end : this.clock.begin + 1;
    this.set_range(this.clock.begin, end);
  }
  recolour() {
    for (const panel of this.panels) panel.rebuild();
  }
  hovered(row: number | null) {
    this.hover = row;
    for (const panel of this.panels) panel.show(this.clock.time);
  }
}

class Panel {
  readonly element: HTMLDetailsElement;
  private plot: uPlot | null = null;
  private frame = h("div", { class: "plot-frame" });
  private mark = h("div", { class: "time-mark" });
  private values: HTMLElement[] = [];
  private swatches: HTMLElement[] = [];
  private shown: boolean[];

  constructor(private plots: Plots, private group: Group, open: boolean) {
    // Of very many lines the first few; the others can be switched on.
    this.shown = group.columns.map((c, i) => i < 12 && !(group.columns.length > 4 && is_zero(c)));
    const legend = h("div", { class: "legend", role: "group", "aria-label": "Lines of " + group.title });
    group.columns.forEach((column, i) => {
      const value = h("span", { class: "value" });
      const swatch = h("span", { class: "swatch", "aria-hidden": "true" });
      const button = h("button", {
        type: "button", "aria-pressed": String(this.shown[i]), title: shorter(column.name, 300),
        onclick: () => {
          this.shown[i] = !this.shown[i];
          button.setAttribute("aria-pressed", String(this.shown[i]));
          this.plot?.setSeries(i + 1, { show: this.shown[i] });
        },
      }, swatch, h("span", { class: "name" }, shorter(column.name, 28)), value);
      this.values.push(value);
      this.swatches.push(swatch);
      legend.append(button);
    });
    const svg = h("button", { type: "button", class: "small", title: "Save this plot as an SVG file", onclick: () => this.save_svg() }, "SVG");
    this.element = h("details", { class: "panel", open, "data-group": group.key },
      h("summary", {}, h("span", { class: "panel-title" }, group.title), h("span", { class: "panel-about" }, group.about)),
      h("div", { class: "panel-body" }, legend, this.frame, h("div", { class: "panel-tools" }, svg)));
    this.frame.setAttribute("role", "img");
    this.frame.setAttribute("aria-label", this.described());
    this.element.addEventListener("toggle", () => this.build());
    new ResizeObserver(() => this.resize()).observe(this.frame);
  }

  private described(): string {
    const lines = this.group.columns.slice(0, 6).map((c) => {
      let low = Infinity, high = -Infinity;
      for (const x of c.values) if (Number.isFinite(x)) (low = Math.min(low, x)), (high = Math.max(high, x));
      return `${shorter(c.name, 28)} from ${nice(low, 3)} to ${nice(high, 3)}`;
    });
    return `${this.group.title} against time: ${lines.join("; ")}`;
  }

  private build() {
    if (this.plot || !this.element.open || !this.frame.clientWidth) return;
    const { plots, group } = this;
    const text = colour("ink"), grid = colour("grey") + "33";
    const font = "12px system-ui, sans-serif";
    const axis = { stroke: text, font, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1, size: 5 } };
    group.columns.forEach((_, i) => (this.swatches[i].style.background = this.line_colour(i)));
    const options: uPlot.Options = {
      width: this.frame.clientWidth,
      height: 190,
      legend: { show: false },
      padding: [8, 18, 0, 0],
      scales: { x: { time: false, min: plots.range[0], max: plots.range[1] } },
      axes: [
        { ...axis, size: 30, values: (_, splits) => splits.map((x) => nice(x)) },
        { ...axis, size: (_, values) => 18 + 7 * Math.max(2, ...(values ?? []).map((v) => v.length)), values: (_, splits) => splits.map((x) => nice(x, 6)) },
      ],
      series: [
        { label: "t" },
        ...group.columns.map((_, i) => ({
          label: String(i), stroke: this.line_colour(i), width: 1.6, pxAlign: 0, show: this.shown[i], points: { show: false },
          dash: i >= series_colours.length ? [6, 4] : undefined,
        })),
      ],
      cursor: {
        sync: { key: "time", setSeries: false },
        drag: { x: true, y: false, setScale: false },
        points: { size: 6 },
        bind: { dblclick: () => () => (plots.reset(), null) },
      },
      hooks: {
        drawClear: [(u) => this.draw_events(u)],
        setScale: [() => this.show(plots.clock.time)],
        setCursor: [(u) => {
          if (document.querySelector(".u-over:hover") === u.over) plots.hovered(u.cursor.left != null && u.cursor.left >= 0 ? (u.cursor.idx ?? null) : null);
        }],
        setSelect: [(u) => {
          if (u.select.width > 3) plots.set_range(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x"));
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        }],
      },
    };
    const data = [plots.report.t, ...group.columns.map((c) => c.values)] as unknown as uPlot.AlignedData;
    this.plot = new uPlot(options, data, this.frame);
    const over = this.plot.over;
    over.append(this.mark);
    let down = 0;
    over.addEventListener("mousedown", (e) => (down = e.clientX));
    over.addEventListener("click", (e) => {
      if (Math.abs(e.clientX - down) < 4 && this.plot)
        plots.clock.set(this.plot.posToVal(e.clientX - over.getBoundingClientRect().left, "x"));
    });
    over.addEventListener("mouseleave", () => plots.hovered(null));
    this.apply_range();
    this.show(plots.clock.time);
  }

  rebuild() {
    this.plot?.destroy();
    this.plot = null;
    this.build();
  }
  private line_colour(i: number) {
    return colour(series_colours[i % series_colours.length]);
  }
  private resize() {
    if (!this.plot) this.build();
    else if (this.frame.clientWidth && this.plot.width !== this.frame.clientWidth)
      this.plot.setSize({ width: this.frame.clientWidth, height: 190 }), this.show(this.plots.clock.time);
  }
  apply_range() {
    const [min, max] = this.plots.range;
    this.plot?.setScale("x", { min, max });
    this.show(this.plots.clock.time);
  }

  show(time: number) {
    if (!this.plot || !this.element.open) return;
    const { report, hover } = this.plots;
    const left = this.plot.valToPos(time, "x");
    const inside = left >= -1 && left <= this.plot.over.clientWidth + 1;
    this.mark.hidden = !inside;
    if (inside) this.mark.style.transform = `translateX(${left}px)`;
    const row = hover ?? row_at(report.t, time);
    const i = Math.floor(row), f = row - i;
    this.group.columns.forEach((c, k) => {
      if (!this.shown[k]) return void (this.values[k].textContent = "");
      const a = c.values[i], b = c.values[Math.min(i + 1, c.values.length - 1)];
      this.values[k].textContent = nice(f > 0 ? a * (1 - f) + b * f : a, 4);
    });
  }

  private draw_events(u: uPlot) {
    const { ctx } = u, { top, height, left, width } = u.bbox;
    ctx.save();
    for (const event of this.plots.report.events) {
      const x = u.valToPos(event.time, "x", true);
      if (!(x >= left && x <= left + width)) continue;
      ctx.strokeStyle = colour(event_colour(event.kind));
      ctx.globalAlpha = 0.75;
      ctx.lineWidth = devicePixelRatio;
      ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
      ctx.beginPath();
      ctx.moveTo(x, top);
      ctx.lineTo(x, top + height);
      ctx.stroke();
    }
    ctx.restore();
  }

  private save_svg() {
    const { report, range } = this.plots;
    const lines = this.group.columns.flatMap((c, i) => (this.shown[i] ? [{ name: shorter(c.name, 40), colour: this.line_colour(i), values: c.values }] : []));
    const text = plot_svg({ title: `${shorter(report.title, 80)}: ${this.group.title.toLowerCase()}`, t: report.t, lines, range,
      marks: report.events.map((e) => ({ time: e.time, colour: colour(event_colour(e.kind)) })) });
    save(`${report.title || "motion"}-${this.group.key}.svg`, "image/svg+xml", text);
  }
}
