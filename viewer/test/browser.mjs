// A browser that notes everything a report must not do.
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

export const chromium_path = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((p) => p && existsSync(p));

export async function launch() {
  // Without a graphics card WebGL is drawn by SwiftShader.
  const args = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"];
  if (process.getuid?.() === 0) args.push("--no-sandbox");
  return chromium.launch({ executablePath: chromium_path, args });
}

/// Opens a report; `wrong` collects console errors, exceptions, dialogs and requests.
export async function open(browser, file, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, reducedMotion: "reduce", acceptDownloads: true, ...options });
  context.setDefaultTimeout(1200000); // a busy machine draws slowly
  const page = await context.newPage();
  const url = pathToFileURL(file).href, wrong = [];
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && wrong.push(`${m.type()}: ${m.text()}`));
  page.on("pageerror", (e) => wrong.push(`exception: ${e.message}`));
  page.on("dialog", (d) => (wrong.push(`dialog: ${d.message()}`), d.dismiss()));
  page.on("popup", () => wrong.push("popup"));
  page.on("request", (r) => r.url() === url || r.url().startsWith("data:") || r.url().startsWith("blob:") || wrong.push(`request: ${r.url().slice(0, 200)}`));
  await page.goto(url);
  await page.waitForSelector(".transport");
  return { page, wrong, close: () => context.close() };
}

/// What the picture shows: how many pixels are not ground, and a number that changes with any of them.
export function look(page) {
  return page.evaluate(async () => {
    await new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(f)));
    const canvas = document.querySelector(".canvas canvas");
    const copy = document.createElement("canvas");
    copy.width = canvas.width;
    copy.height = canvas.height;
    const context = copy.getContext("2d");
    context.drawImage(canvas, 0, 0);
    const { data } = context.getImageData(0, 0, copy.width, copy.height);
    let drawn = 0, sum = 0;
    const colours = new Set();
    for (let i = 0; i < data.length; i += 4) {
      if (data[i + 3] > 8) ++drawn, colours.add((data[i] >> 4) * 256 + (data[i + 1] >> 4) * 16 + (data[i + 2] >> 4));
      sum = (sum * 31 + data[i] + 3 * data[i + 1] + 7 * data[i + 2] + data[i + 3]) % 4294967291;
    }
    return { share: drawn / (data.length / 4), colours: colours.size, sum };
  });
}

export const time_shown = async (page) => Number((await page.locator(".readout").textContent()).replace("t = ", ""));
export const set_slider = (page, share) => page.locator("input.time").fill(String(Math.round(10000 * share)));
