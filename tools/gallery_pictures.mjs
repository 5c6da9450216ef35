// Pictures of reports; tools/build_gallery calls this where the packages of the report page are.
//   node gallery_pictures.mjs JOBS.json      [{report, out, at, width, height, scale, whole}]
// `at` is the share of the time that has passed. Without `whole` only the moving picture is taken. The ending of `out`,
// .png or .webp, says the format. Ends with 1 where a report does what it must not.
import { readFileSync, writeFileSync } from "node:fs";
import zlib from "node:zlib";
import { launch, open, set_slider } from "./browser.mjs";

const jobs = JSON.parse(readFileSync(process.argv[2], "utf8"));
const browser = await launch();
const studio = await browser.newPage();
const drawn = (page) => page.evaluate(() => new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(f))));
let failed = 0;

// Reports are drawn at twice the size and made smaller here. Returns a WebP file, or the pixels for a PNG file.
async function shrink(png, width, height, webp) {
  const data = await studio.evaluate(async ({ source, width, height, webp }) => {
    const image = await createImageBitmap(await (await fetch("data:image/png;base64," + source)).blob());
    const canvas = new OffscreenCanvas(width, height), context = canvas.getContext("2d");
    context.imageSmoothingQuality = "high";
    context.drawImage(image, 0, 0, width, height);
    const bytes = webp
      ? new Uint8Array(await (await canvas.convertToBlob({ type: "image/webp", quality: 0.86 })).arrayBuffer())
      : context.getImageData(0, 0, width, height).data;
    return btoa(bytes.reduce((s, b) => s + String.fromCharCode(b), ""));
  }, { source: png.toString("base64"), width, height, webp });
  return Buffer.from(data, "base64");
}

// A PNG of 256 colours, half as large as what Chromium writes: the most frequent ones, the others take the nearest.
function indexed_png(rgba, width, height) {
  const key = (i) => ((rgba[i] >> 2) << 12) | ((rgba[i + 1] >> 2) << 6) | (rgba[i + 2] >> 2);
  const seen = new Map();
  for (let i = 0; i < rgba.length; i += 4) {
    const k = key(i), old = seen.get(k);
    if (old) old.count++;
    else seen.set(k, { count: 1, colour: [rgba[i], rgba[i + 1], rgba[i + 2]] });
  }
  const palette = [...seen.values()].sort((a, b) => b.count - a.count).slice(0, 256).map((s) => s.colour);
  const nearest = (c) => palette.reduce((best, p, i) => {
    const d = (p[0] - c[0]) ** 2 + (p[1] - c[1]) ** 2 + (p[2] - c[2]) ** 2;
    return d < best.d ? { d, i } : best;
  }, { d: Infinity, i: 0 }).i;
  for (const s of seen.values()) s.index = nearest(s.colour);
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; ++y) for (let x = 0; x < width; ++x) rows[y * (width + 1) + x + 1] = seen.get(key(4 * (y * width + x))).index;
  const chunk = (name, data) => {
    const body = Buffer.concat([Buffer.from(name), data]), ends = Buffer.alloc(8);
    ends.writeUInt32BE(data.length, 0), ends.writeUInt32BE(crc(body), 4);
    return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0), head.writeUInt32BE(height, 4), head.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]), chunk("IHDR", head), chunk("PLTE", Buffer.from(palette.flat())),
    chunk("IDAT", zlib.deflateSync(rows, { level: 9, memLevel: 9 })), chunk("IEND", Buffer.alloc(0))]);
}

// zlib.crc32 came with node 22.
function crc(bytes) {
  if (zlib.crc32) return zlib.crc32(bytes);
  let c = ~0;
  for (const b of bytes) {
    c ^= b;
    for (let k = 0; k < 8; ++k) c = (c >>> 1) ^ (0xedb88320 & -(c & 1));
  }
  return ~c >>> 0;
}

for (const { report, out, at, width, height, scale = 1, whole = false } of jobs) {
  const { page, wrong, close } = await open(browser, report, { viewport: { width, height }, deviceScaleFactor: 2 });
  if (!whole)
    await page.evaluate(() => {
      Object.assign(document.querySelector(".canvas").style, { position: "fixed", inset: 0, height: "100vh", zIndex: 10, border: 0, borderRadius: 0, background: "#ffffff" });
      document.querySelector(".stage-tools").style.display = "none";
    });
  await drawn(page);
  await page.keyboard.press("f"); // the picture has another shape now
  await set_slider(page, at);
  await page.evaluate(() => document.activeElement?.blur());
  await drawn(page);
  const png = await page.screenshot(), webp = out.endsWith(".webp");
  const small = [Math.round(scale * width), Math.round(scale * height)];
  const made = await shrink(png, ...small, webp);
  writeFileSync(out, webp ? made : indexed_png(made, ...small));
  if (wrong.length) (failed = 1), console.error(`${report}: ${wrong.join("; ")}`);
  await close();
}
await browser.close();
process.exitCode = failed;
