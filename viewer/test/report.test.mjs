// Reports as people meet them: opened from the disk, in a browser, without a network.
//   PROGRAM=…/mechanician MODELS=…/models OUT=folder node --test test/
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import axe from "axe-core";
import { launch, look, open, set_slider, time_shown } from "./browser.mjs";

const { PROGRAM: program, MODELS: models, OUT: out } = process.env;
mkdirSync(out, { recursive: true });
let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

function make(name, to, ...more) {
  return make_from(join(models, `${name}.toml`), name, to, ...more);
}
function make_from(model, name, to, ...more) {
  const file = join(out, `${name}.html`);
  execFileSync(program, ["run", model, "--to", String(to), "--quiet", "-o", join(out, `${name}.csv`), "--report", file, ...more]);
  assert.ok(statSync(file).size < 5e6, `${name} is larger than 5 MB`);
  return file;
}

async function serious_faults(page) {
  await page.evaluate(axe.source);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations
    .filter((v) => v.impact === "serious" || v.impact === "critical")
    .map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 120)).slice(0, 3).join(" | ")}`);
}

const shown = [
  ["four_bar", 3, 2],
  ["rolling_disk", 6, 3],
  ["quaternion_body", 2, 3],
  ["rough_incline", 0.5, 2],
  ["double_pendulum", 6, 2],
  ["ladder_2", 5, 2],
  ["squeezer", 0.03, 2],
  ["bouncing_ball", 5, 2],
  ["sliding_to_rolling_disc", 1, 2],
];

for (const [name, to, dimension] of shown)
  test(`${name}: the picture moves, the plots follow, nothing goes wrong`, async () => {
    const { page, wrong, close } = await open(browser, make(name, to));
    await set_slider(page, 0.2);
    const first = await look(page);
    assert.ok(first.share > 0.002 && first.colours > 3, `blank picture: ${JSON.stringify(first)}`);
    const value = page.locator("details[data-group=q] .legend .value").first();
    const mark = page.locator("details[data-group=q] .time-mark");
    const before_values = [await value.textContent(), await mark.getAttribute("style"), await time_shown(page)];
    await page.screenshot({ path: join(out, `${name}-light.png`) });
    await set_slider(page, 0.63);
    const second = await look(page);
    assert.notEqual(second.sum, first.sum, "the picture does not follow the slider");
    const after_values = [await value.textContent(), await mark.getAttribute("style"), await time_shown(page)];
    before_values.forEach((v, i) => assert.notEqual(after_values[i], v, "the plots do not follow the slider"));
    assert.ok(Math.abs(after_values[2] - 0.63 * to) < 0.01 * to);

    // Drag: turns in space, moves in the plane.
    const box = await page.locator(".canvas canvas").boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 + 120, box.y + box.height / 2 + 40, { steps: 4 });
    await page.mouse.up();
    const turned = await look(page);
    assert.notEqual(turned.sum, second.sum, `dragging does nothing in ${dimension}D`);
    await page.getByRole("button", { name: "Fit" }).click();

    for (const tab of ["Equations", "Checks", "Events", "Model"]) {
      await page.getByRole("tab", { name: tab }).click();
      assert.ok((await page.locator("[role=tabpanel]:visible").innerText()).length > 40, `${tab} is empty`);
      if (tab !== "Events") await page.screenshot({ path: join(out, `${name}-${tab.toLowerCase()}.png`) });
    }
    await page.getByRole("tab", { name: "Equations" }).click();
    assert.ok((await page.locator(".formula .katex").count()) >= 2);
    assert.equal(await page.locator(".katex-error, .formula > code").count(), 0);
    assert.deepEqual(await serious_faults(page), []);
    assert.deepEqual(wrong, []);
    await close();
  });

test("dark, on a phone: nothing sticks out, nothing is hard to read", async () => {
  for (const name of ["double_pendulum", "rolling_disk"]) {
    const { page, wrong, close } = await open(browser, make(name, 5), { viewport: { width: 390, height: 844 }, colorScheme: "dark", hasTouch: true });
    await set_slider(page, 0.4);
    await look(page);
    await page.screenshot({ path: join(out, `${name}-phone-dark.png`) });
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390, "wider than the phone");
    assert.deepEqual(await serious_faults(page), []);
    await page.getByRole("tab", { name: "Checks" }).click();
    await page.screenshot({ path: join(out, `${name}-phone-checks.png`), fullPage: true });
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390, "wider than the phone");
    assert.deepEqual(await serious_faults(page), []);
    assert.deepEqual(wrong, []);
    await close();
  }
  const { page, close } = await open(browser, make("four_bar", 3), { colorScheme: "dark" });
  await set_slider(page, 0.4);
  await look(page);
  await page.screenshot({ path: join(out, "four_bar-dark.png") });
  assert.deepEqual(await serious_faults(page), []);
  await close();
});

test("the keyboard does everything", async () => {
  const { page, wrong, close } = await open(browser, make("ladder_2", 5));
  const press = async (key) => (await page.keyboard.press(key), time_shown(page));
  await page.locator("body").click({ position: { x: 5, y: 5 } });
  assert.equal(await press("Home"), 0);
  const one = await press("ArrowRight");
  assert.ok(one > 0);
  assert.ok((await press("ArrowRight")) > one);
  assert.equal(await press("ArrowLeft"), one);
  assert.equal(await press("End"), 5);
  await press("Home");
  await page.keyboard.press("Shift+ArrowRight");
  assert.ok(Math.abs((await time_shown(page)) - 0.25) < 0.01, "shift moves by a twentieth");
  const event = await press("n");
  assert.ok(event > 0.25 && event < 5, "n goes to the next event");
  await press(" ");
  assert.equal(await page.locator(".play").getAttribute("aria-label"), "Pause");
  for (let i = 0; i < 12000 && !((await time_shown(page)) > event); ++i) await page.waitForTimeout(50);
  assert.ok((await time_shown(page)) > event, "space plays");
  await press(" ");
  assert.equal(await page.locator(".play").getAttribute("aria-label"), "Play");
  await press("Home");
  const before_turn = await look(page);
  await press("v");
  assert.equal(await page.locator("#forces").isChecked(), false, "v hides the force arrows");
  await press("d");
  assert.notEqual((await look(page)).sum, before_turn.sum, "d moves the picture");
  const speed = await page.locator(".transport select").inputValue();
  await press("+");
  assert.equal(Number(await page.locator(".transport select").inputValue()), 2 * Number(speed));
  await press("?");
  assert.ok(await page.locator("dialog").isVisible());
  await page.keyboard.press("Escape");
  await page.getByRole("tab", { name: "Plots" }).focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.getByRole("tab", { name: "Equations" }).getAttribute("aria-selected"), "true");
  await press("l");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  assert.deepEqual(wrong, []);
  await close();
});

test("plots zoom together, lines can be switched off, plots and data can be saved", async () => {
  const { page, wrong, close } = await open(browser, make("double_pendulum", 6, "--every", "0.01"));
  await set_slider(page, 0.2);
  const over = await page.locator("details[data-group=q] .u-over").boundingBox();
  const y = over.y + over.height / 2;
  await page.mouse.move(over.x + 0.5 * over.width, y);
  await page.mouse.down();
  await page.mouse.move(over.x + 0.8 * over.width, y, { steps: 5 });
  await page.mouse.up();
  // The time shown is now outside of all plots.
  for (const group of ["q", "Qi"]) assert.equal(await page.locator(`details[data-group=${group}] .time-mark`).isVisible(), false, group);
  await page.mouse.click(over.x + 0.5 * over.width, y);
  assert.ok(Math.abs((await time_shown(page)) - 6 * 0.65) < 0.1, "a click goes there");
  await page.getByRole("button", { name: "Whole time" }).click();

  const button = page.locator("details[data-group=q] .legend button").first();
  assert.equal(await button.getAttribute("aria-pressed"), "true");
  await button.click();
  assert.equal(await button.getAttribute("aria-pressed"), "false");

  const saved = async (click) => {
    const [download] = await Promise.all([page.waitForEvent("download"), click()]);
    return readFileSync(await download.path(), "utf8");
  };
  const svg = await saved(() => page.locator("details[data-group=q]").getByRole("button", { name: "SVG" }).click());
  assert.match(svg, /^<svg[^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
  assert.equal(svg.match(/<path/g).length, 3, "three of four lines are on");
  const csv = (await saved(() => page.locator("footer").getByRole("button").click())).trim().split("\n");
  const given = readFileSync(join(out, "double_pendulum.csv"), "utf8").trim().split("\n");
  assert.equal(csv.length, given.length, "rows of the report are those of the result");
  const names = csv[0].split(","), given_names = given[0].split(",");
  for (const row of [1, 300, 601])
    for (const name of ["t", "x1", "y2'", "lambda(upper)"])
      assert.equal(Number(csv[row].split(",")[names.indexOf(name)]), Number(given[row].split(",")[given_names.indexOf(name)]), `${name} in row ${row}`);
  assert.deepEqual(wrong, []);
  await close();
});

test("joints are seen, and so are their forces", async () => {
  const shaft = readFileSync(join(models, "hooke_shaft.toml"), "utf8").replace(/\n\[view[^]*/, "\n");
  const pictures = {};
  for (const [name, view] of [["with_reactions", "reactions = true"], ["without_joints", "reactions = false\njoints = false"]]) {
    writeFileSync(join(out, `${name}.toml`), `${shaft}\n[view]\n${view}\n`);
    const { page, wrong, close } = await open(browser, make_from(join(out, `${name}.toml`), name, 0.5));
    await set_slider(page, 0.5);
    pictures[name] = await look(page);
    await page.screenshot({ path: join(out, `${name}.png`) });
    const forces = page.locator("#forces");
    if (name === "with_reactions") {
      await forces.uncheck();
      pictures.no_arrows = await look(page);
    }
    assert.deepEqual(wrong, []);
    await close();
  }
  assert.notEqual(pictures.with_reactions.sum, pictures.no_arrows.sum, "the arrows cannot be hidden");
  assert.notEqual(pictures.no_arrows.sum, pictures.without_joints.sum, "joints are not seen");
});

test("a model without a picture has plots; a long run is thinned", async () => {
  const bare = join(out, "no_picture.toml");
  writeFileSync(bare, readFileSync(join(models, "arm7.toml"), "utf8").replace(/\n\[view[^]*/, "\n"));
  const { page, wrong, close } = await open(browser, make_from(bare, "no_picture", 0.5));
  assert.equal(await page.locator(".canvas canvas").count(), 0);
  assert.ok(await page.locator("details[data-group=q] canvas").isVisible());
  await page.screenshot({ path: join(out, "no_picture-light.png") });
  await close();
  const long = await open(browser, make("ladder_10", 20, "--every", "0.001"));
  await set_slider(long.page, 0.5);
  assert.ok((await look(long.page)).share > 0.002);
  assert.match(await long.page.locator("footer").innerText(), /one in \d+ of the result/);
  assert.deepEqual([...wrong, ...long.wrong], []);
  await long.close();
});
