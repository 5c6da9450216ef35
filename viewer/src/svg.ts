// A plot as an SVG file, for papers: white ground, dark text, the lines as paths.

import { nice } from "./dom";

interface Plot {
  title: string;
  t: Float64Array;
  lines: { name: string; colour: string; values: Float64Array }[];
  range: [number, number];
  marks: { time: number; colour: string }[];
}

/// Round numbers in [low, high], about `count` of them.
export function ticks(low: number, high: number, count: number): number[] {
  const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((s) => s * power).find((s) => s >= raw * 0.999) ?? 10 * power;
  const list: number[] = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; ++k) list.push(k * step);
  return list;
}

export function plot_svg(plot: Plot): string {
  const width = 720, height = 380, left = 78, right = 16, top = 34, bottom = 44 + 20 * Math.ceil(plot.lines.length / 4);
  const doc = document.implementation.createDocument("http://www.w3.org/2000/svg", "svg", null);
  const make = (parent: Element, tag: string, attributes: Record<string, string | number>, text?: string) => {
    const element = doc.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
    // Letters that XML does not allow cannot be in a file of it.
    if (text !== undefined) element.textContent = text.replace(/[^\u0009\u000a\u000d\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd");
    parent.append(element);
    return element;
  };
  const svg = doc.documentElement;
  for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}`, "font-family": "sans-serif", "font-size": 12 }))
    svg.setAttribute(name, String(value));
  make(svg, "rect", { width, height, fill: "#fff" });
  make(svg, "text", { x: left, y: 20, "font-weight": "bold", fill: "#1c2430" }, plot.title);

  const [from, to] = plot.range;
  let low = Infinity, high = -Infinity;
  for (const line of plot.lines)
    line.values.forEach((x, i) => {
      if (Number.isFinite(x) && plot.t[i] >= from && plot.t[i] <= to) (low = Math.min(low, x)), (high = Math.max(high, x));
    });
  if (!(high > low)) {
    const middle = Number.isFinite(low) ? low : 0, around = Math.abs(middle) * 0.1 || 1;
    (low = middle - around), (high = middle + around);
  }
  const pad = 0.05 * (high - low);
  (low -= pad), (high += pad);
  const px = (t: number) => left + ((t - from) / (to - from)) * (width - left - right);
  const py = (y: number) => height - bottom - ((y - low) / (high - low)) * (height - top - bottom);
  for (const t of ticks(from, to, 8)) {
    make(svg, "line", { x1: px(t), x2: px(t), y1: top, y2: height - bottom, stroke: "#dde1e7" });
    make(svg, "text", { x: px(t), y: height - bottom + 16, "text-anchor": "middle", fill: "#1c2430" }, nice(t));
  }
  for (const y of ticks(low, high, 6)) {
    make(svg, "line", { x1: left, x2: width - right, y1: py(y), y2: py(y), stroke: "#dde1e7" });
    make(svg, "text", { x: left - 6, y: py(y) + 4, "text-anchor": "end", fill: "#1c2430" }, nice(y, 6));
  }
  for (const mark of plot.marks)
    if (mark.time >= from && mark.time <= to)
      make(svg, "line", { x1: px(mark.time), x2: px(mark.time), y1: top, y2: height - bottom, stroke: mark.colour, "stroke-dasharray": "4 3" });
  make(svg, "rect", { x: left, y: top, width: width - left - right, height: height - top - bottom, fill: "none", stroke: "#5c6470" });
  make(svg, "text", { x: (left + width - right) / 2, y: height - bottom + 33, "text-anchor": "middle", "font-style": "italic", fill: "#1c2430" }, "t");
  plot.lines.forEach((line, k) => {
    let path = "", drawing = false;
    line.values.forEach((y, i) => {
      const t = plot.t[i];
      if (!Number.isFinite(y) || t < from || t > to) return void (drawing = false);
      path += `${drawing ? "L" : "M"}${px(t).toFixed(2)} ${py(y).toFixed(2)}`;
      drawing = true;
    });
    make(svg, "path", { d: path, fill: "none", stroke: line.colour, "stroke-width": 1.5, "stroke-linejoin": "round" });
    const x = left + 160 * (k % 4), y = height - 12 - 20 * (Math.ceil(plot.lines.length / 4) - 1 - Math.floor(k / 4));
    make(svg, "line", { x1: x, x2: x + 22, y1: y - 4, y2: y - 4, stroke: line.colour, "stroke-width": 2 });
    make(svg, "text", { x: x + 28, y, fill: "#1c2430" }, line.name);
  });
  return new XMLSerializer().serializeToString(doc);
}
