// Colours by name, for a light and a dark page. The order of `series` is that of lines in a plot.

const palette: Record<string, [light: string, dark: string]> = {
  blue: ["#1f66b1", "#6fb1f5"],
  orange: ["#c4500c", "#ff9d5c"],
  green: ["#1d7a46", "#63cf92"],
  red: ["#b3261e", "#ff8a80"],
  purple: ["#7540b0", "#c29bff"],
  teal: ["#0d7377", "#53cfd3"],
  brown: ["#7a5230", "#d0a479"],
  pink: ["#b52a72", "#ff8fc4"],
  grey: ["#5c6470", "#aab4c2"],
  ink: ["#1c2430", "#e8ecf2"],
  steel: ["#7d8a9a", "#8f9dae"],
  ideal: ["#1f66b1", "#6fb1f5"],
  nonideal: ["#c4500c", "#ff9d5c"],
  control: ["#7540b0", "#c29bff"],
};
export const series = ["blue", "orange", "green", "purple", "red", "teal", "pink", "brown", "grey", "ink"];

export function is_dark(): boolean {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}
export function colour(name: string | undefined, other = "blue"): string {
  if (name && /^#[0-9a-fA-F]{6}$/.test(name)) return name;
  const pair = palette[name ?? other] ?? palette[other];
  return pair[is_dark() ? 1 : 0];
}
