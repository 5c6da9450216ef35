// Play, speed and the slider of time, with a mark for every event.

import { colour } from "./colours";
import type { Clock } from "./clock";
import { h, nice, shorter } from "./dom";
import type { Report } from "./report";

/// Real time where that is watched with pleasure, else a round factor that shows everything in about ten seconds.
function usual_speed(duration: number): number {
  if (!(duration > 0) || (duration >= 2 && duration <= 40)) return 1;
  const wanted = duration / 10, power = 10 ** Math.floor(Math.log10(wanted));
  return power * ([5, 2, 1].find((s) => s * power <= wanted * 1.01) ?? 1);
}

export const speeds = (usual: number) => [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8].map((s) => s * usual);

export function make_transport(report: Report, clock: Clock, event_colour: (kind: string) => string, recolour: (() => void)[]): HTMLElement {
  const { begin, end } = clock;
  const duration = end - begin;
  const usual = usual_speed(duration);
  clock.set_speed(usual);
  const play = h("button", { type: "button", class: "play", onclick: () => clock.play(!clock.playing) });
  const speed = h("select", { "aria-label": "Speed", title: "Speed: time of the motion for a second of the watch (+ and -)",
    onchange: () => clock.set_speed(Number(speed.value)) });
  for (const s of speeds(usual)) speed.append(h("option", { value: s }, `× ${nice(s, 3)}`));
  speed.value = String(usual);
  const steps = 10000;
  const slider = h("input", { type: "range", min: 0, max: steps, step: 1, value: 0, class: "time", "aria-label": "Time",
    oninput: () => {
      clock.play(false);
      clock.set(begin + (duration * slider.valueAsNumber) / steps);
    } });
  const digits = Math.max(2, Math.min(6, 3 - Math.floor(Math.log10(duration || 1))));
  const readout = h("output", { class: "readout", "aria-live": "off" });
  const marks = h("div", { class: "marks", "aria-hidden": "true" });
  for (const e of report.events.slice(0, 400)) {
    const mark = h("i", { title: shorter(`${e.kind} ${e.name} ${e.constraints.join(", ")}`, 100) });
    mark.style.left = `${duration > 0 ? (100 * (e.time - begin)) / duration : 0}%`;
    const paint = () => (mark.style.background = colour(event_colour(e.kind)));
    paint();
    recolour.push(paint);
    marks.append(mark);
  }
  clock.on_time((time) => {
    slider.value = String(duration > 0 ? Math.round((steps * (time - begin)) / duration) : 0);
    const text = time.toFixed(digits);
    slider.setAttribute("aria-valuetext", "t = " + text);
    readout.textContent = "t = " + text;
  });
  const show_state = () => {
    play.textContent = clock.playing ? "❚❚" : "▶";
    play.setAttribute("aria-label", clock.playing ? "Pause" : "Play");
    play.title = clock.playing ? "Pause (space)" : "Play (space)";
    speed.value = String(clock.speed);
  };
  clock.on_state(show_state);
  show_state();
  return h("div", { class: "transport", role: "group", "aria-label": "Time" },
    play, h("div", { class: "slider" }, slider, marks), readout, speed);
}
