// A model from a stranger: whatever its strings hold, the report shows them as text.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { launch, open, set_slider } from "./browser.mjs";

const { PROGRAM: program, OUT: out } = process.env;
mkdirSync(out, { recursive: true });
let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const attacks = [
  "</script><script>window.pwned = 1</script>",
  "<img src=x onerror=\"window.pwned = 2\">",
  "'\"><svg/onload=window.pwned=3>",
  "]]><!--<script>",
  "\\href{javascript:window.pwned=4}{x}",
  "\\htmlData{a=b}{x}\\includegraphics{http://127.0.0.1/x}",
  "javascript:window.pwned=5",
  "{{constructor.constructor('window.pwned=6')()}}",
  "\u202egnirts siht\u202c \u2066\u200f\u061c\u200b\ufeff\u2028\u2029 end",
  "=cmd|' /C calc'!A0",
  "x".repeat(4000),
  "&lt;b&gt;&quot;&#0;",
];
const quote = (text) => JSON.stringify(text).replace(/[\u007f-\uffff]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));

test("no string of a model becomes markup or script", async () => {
  const long = "ж".repeat(300);
  const model = [
    ...attacks.map((a) => "# " + a.replace(/[\u2028\u2029]/g, "")),
    `title = ${quote(attacks.join(" "))}`,
    `coordinates = ["x", "y", "${long}"]`,
    "[parameters]", "m = 1", `"Ω_${"p".repeat(500)}" = 2`,
    "[dynamics]", `kinetic = "m/2*(x'^2 + y'^2 + ${long}'^2)"`, 'potential = "m*9.81*y"',
    // Names of constraints are letters and digits; the language sees to that.
    "[constraints]", 'rod = "x^2 + y^2 = 1"', `"${"я".repeat(3000)}" = "${long} = 0"`,
    "[start]", "position = { x = 1 }",
    "[outputs]", `"${"щ".repeat(3000)}" = "x + y"`,
    "[events]", `"${"ы".repeat(3000)}" = { when = "x" }`,
    "[view.points]", ...attacks.map((a) => `${quote(a)} = ["x", "y"]`),
    "[view.traces]", `${quote(attacks[0])} = ${quote(attacks[0])}`,
    "[view.arrows]", `${quote(attacks[1])} = { at = ${quote(attacks[1])}, vector = ["x'", "y'"] }`,
  ].join("\n");
  const file = join(out, "<img src=x onerror=pwned()>'&quot;.toml"), report = join(out, "hostile.html");
  writeFileSync(file, model + "\n");
  execFileSync(program, ["run", file, "--to", "2", "--quiet", "-o", join(out, "hostile.csv"), "--report", report], { stdio: ["ignore", "ignore", "pipe"] });
  assert.ok(statSync(report).size < 5e6);

  // The data end where they should, and hold nothing that a browser or a person could misread.
  const html = readFileSync(report, "utf8");
  const data = html.split('<script type="application/json" id="report">')[1].split("</script>")[0];
  assert.doesNotMatch(data, /[<>&'`\u202a-\u202e\u2066-\u2069\u200b-\u200f\u2028\u2029\ufeff\u061c]/);
  const read = JSON.parse(data);
  assert.ok(read.title.startsWith(attacks[0]));

  const { page, wrong, close } = await open(browser, report, { reducedMotion: "no-preference" });
  await set_slider(page, 0.5);
  await page.locator("#names").check();
  for (const tab of ["Equations", "Checks", "Events", "Model", "Plots"]) {
    await page.getByRole("tab", { name: tab }).click();
    await page.waitForTimeout(200);
  }
  for (const group of await page.locator("details.panel").all()) await group.evaluate((e) => (e.open = true));
  await page.waitForTimeout(500);
  await page.screenshot({ path: join(out, "hostile.png") });
  const found = await page.evaluate(() => ({
    pwned: window.pwned,
    scripts: document.scripts.length,
    strangers: document.querySelectorAll("img, iframe, object, embed, form, [href^=javascript], [onerror], [onload]").length,
    handlers: [...document.querySelectorAll("*")].filter((e) => e.getAttributeNames().some((n) => n.startsWith("on"))).length,
    marks: /[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/.test(document.body.innerText + document.title),
    text: document.querySelector("h1").textContent.includes("<script>"),
    width: document.documentElement.scrollWidth,
  }));
  assert.deepEqual(found, { pwned: undefined, scripts: 2, strangers: 0, handlers: 0, marks: false, text: true, width: 1400 });
  assert.deepEqual(wrong, []);

  // Even a script that got into the page would not run.
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.pwned = 7";
    document.body.append(script);
  });
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.ok(wrong.some((w) => w.includes("Content Security Policy")), "the policy refuses it");
  await close();
});
