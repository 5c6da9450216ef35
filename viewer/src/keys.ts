// The keyboard, and the list of its keys.

import type { Clock } from "./clock";
import { h } from "./dom";
import type { Picture } from "./picture";
import type { Plots } from "./plots";
import { row_at, type Report } from "./report";
import { speeds } from "./transport";

const keys: [string, string][] = [
  ["space", "play, pause"],
  ["← →", "a row back, a row on; with shift a twentieth of the time"],
  ["Home End", "start, end"],
  ["+ −", "faster, slower"],
  ["n p", "next, previous event"],
  ["w a s d", "turn the picture (2D: move it)"],
  ["z x", "picture nearer, farther"],
  ["f", "see the whole motion"],
  ["v", "force arrows on and off"],
  ["i o 0", "plots: zoom in, zoom out, whole time"],
  ["l", "light, dark"],
  ["?", "this list"],
];

export function make_help(): HTMLDialogElement {
  const dialog = h("dialog", { "aria-label": "Keys" });
  const list = h("dl");
  for (const [key, does] of keys) list.append(h("div", {}, h("dt", {}, ...key.split(" ").map((k) => h("kbd", {}, k))), h("dd", {}, does)));
  dialog.append(h("h2", {}, "Keys"), list, h("button", { type: "button", onclick: () => dialog.close() }, "Close"));
  return dialog;
}

interface Parts {
  clock: Clock;
  report: Report;
  picture: Picture | null;
  plots: Plots;
  help: HTMLDialogElement;
  next_theme: () => void;
}

export function listen_to_keys({ clock, report, picture, plots, help, next_theme }: Parts) {
  const usual = clock.speed;
  const step = (by: number) => {
    clock.play(false);
    const row = row_at(report.t, clock.time);
    const to = by > 0 ? Math.floor(row + 1e-9) + by : Math.ceil(row - 1e-9) + by;
    clock.set(report.t[Math.min(report.rows - 1, Math.max(0, to))]);
  };
  const to_event = (direction: number) => {
    const near = 1e-9 * (clock.end - clock.begin);
    const times = report.events.map((e) => e.time).filter((t) => direction * (t - clock.time) > near);
    if (!times.length) return;
    clock.play(false);
    clock.set(direction > 0 ? Math.min(...times) : Math.max(...times));
  };
  const faster = (by: number) => {
    const list = speeds(usual);
    const at = list.findIndex((s) => s >= clock.speed * 0.999);
    clock.set_speed(list[Math.min(list.length - 1, Math.max(0, at + by))]);
  };
  const act: Record<string, () => void> = {
    " ": () => clock.play(!clock.playing),
    ArrowLeft: () => step(-1),
    ArrowRight: () => step(1),
    Home: () => clock.set(clock.begin),
    End: () => (clock.play(false), clock.set(clock.end)),
    "+": () => faster(1), "=": () => faster(1), "-": () => faster(-1),
    n: () => to_event(1), p: () => to_event(-1),
    w: () => picture?.orbit(0, 1), s: () => picture?.orbit(0, -1),
    a: () => picture?.orbit(-1, 0), d: () => picture?.orbit(1, 0),
    z: () => picture?.zoom(1.15), x: () => picture?.zoom(1 / 1.15),
    f: () => picture?.fit(),
    v: () => document.getElementById("forces")?.click(),
    i: () => plots.zoom(0.5), o: () => plots.zoom(2), "0": () => plots.reset(),
    l: next_theme,
    "?": () => help.showModal(),
  };
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || help.open) return;
    const target = e.target as HTMLElement;
    // Buttons, sliders and lists have keys of their own.
    const own = target.closest("input, select, textarea, button, summary, [role=tab]");
    if (own && (e.key === " " || e.key === "Enter" || e.key.startsWith("Arrow") || e.key === "Home" || e.key === "End")) return;
    if (target.closest("select, textarea")) return;
    let f = act[e.key];
    if (e.shiftKey && e.key.startsWith("Arrow")) {
      const twentieth = (clock.end - clock.begin) / 20;
      f = () => (clock.play(false), clock.set(clock.time + (e.key === "ArrowLeft" ? -twentieth : twentieth)));
    }
    if (!f) return;
    e.preventDefault();
    f();
  });
}
