// Elements of the page. Text of the model only ever becomes the text of a node or the value of an attribute that holds
// text: nothing here, and nothing else on the page, makes markup of it.

type Child = Node | string;
type Attributes = Record<string, string | number | boolean | ((event: never) => void) | undefined>;

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value as unknown as EventListener);
    else if (name.startsWith("on")) throw new Error("a handler is a function");
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children);
  return element;
}

/// Marks that are not seen and change the order or the look of the text around them are shown by their number.
const unseen =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff]/g;
export function visible(text: string): string {
  return text.replace(unseen, (c) => `⟨U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

export function shorter(text: string, longest = 60): string {
  const letters = Array.from(visible(text));
  return letters.length <= longest ? letters.join("") : letters.slice(0, longest - 1).join("") + "…";
}

/// Lets the browser save a text as a file.
export function save(name: string, type: string, text: string) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = h("a", { href: url, download: name.replace(/[^A-Za-z0-9._-]+/g, "_").slice(0, 80) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/// A number for people.
export function nice(x: number, digits = 5): string {
  if (!Number.isFinite(x)) return "–";
  if (x === 0) return "0";
  const size = Math.abs(x);
  const text = size >= 1e5 || size < 1e-3 ? x.toExponential(Math.max(0, digits - 2)) : x.toPrecision(digits);
  return text.replace(/(\.\d*?)0+(e|$)/, "$1$2").replace(/\.(e|$)/, "$1").replace("-", "−").replace("e−", "e-").replace("e+", "e");
}
