// Opens every built page in Chromium, at the width of a desktop and of a phone, and looks for what readers stumble over:
// violations of accessibility rules (axe), pages wider than the window, errors in the console, anything asked of the
// network, and links to pages or headings that do not exist.
//
//   node docs/check_pages.js docs/_build/html [folder for screenshots]
//
// It needs the packages puppeteer-core and axe-core (NODE_PATH says where), and Chromium (CHROMIUM; /usr/bin/chromium).
"use strict";
const fs = require("fs");
const path = require("path");
const { pathToFileURL, fileURLToPath } = require("url");
const puppeteer = require("puppeteer-core");

const AXE = require.resolve("axe-core/axe.min.js");
const SIZES = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 800 } };
// What the theme does on a page of its own: a rule, and the page that breaks it.
const THEIRS = [["page-has-heading-one", "search.html"]];

function pagesUnder(folder) {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const found = path.join(folder, entry.name);
    if (entry.isDirectory()) return entry.name.startsWith("_") ? [] : pagesUnder(found);
    return entry.name.endsWith(".html") ? [found] : [];
  });
}

// What a page says of itself, in the browser.
function inspect() {
  const wide = [...document.querySelectorAll("body *")].filter((one) => {
    const scrolls = one.closest(".table-wrapper, .catalogue-box, .formula, pre, .highlight");
    return !scrolls && one.getBoundingClientRect().right > document.documentElement.clientWidth + 1;
  });
  return {
    ids: [...document.querySelectorAll("[id], a[name]")].map((one) => one.id || one.name),
    links: [...document.querySelectorAll("a[href]")].map((one) => one.href),
    excess: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    wide: wide.slice(0, 3).map((one) => one.outerHTML.slice(0, 100)),
  };
}

async function violations(page, file) {
  await page.addScriptTag({ path: AXE });
  const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"], preload: false }));
  const ours = found.violations.filter((rule) => !THEIRS.some(([id, name]) => rule.id === id && file.endsWith(name)));
  return ours.flatMap((rule) =>
    rule.nodes.map((node) => `axe ${rule.id}: ${node.target.join(" ")}  ${node.html.replace(/\s+/g, " ").slice(0, 120)}`));
}

async function look(browser, file, name, screenshots) {
  const page = await browser.newPage();
  const problems = [];
  page.on("console", (message) => message.type() === "error" && problems.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => problems.push(`script: ${error.message}`));
  page.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) problems.push(`network: ${request.url()}`);
  });
  await page.setViewport(SIZES[name]);
  await page.goto(pathToFileURL(file).href, { waitUntil: "load" });
  const seen = await page.evaluate(inspect);
  if (seen.excess > 0) problems.push(`${seen.excess} px wider than the window: ${seen.wide.join(" | ")}`);
  if (screenshots) await page.screenshot({ path: screenshots });
  problems.push(...(await violations(page, file)));
  await page.close();
  return { problems, ids: seen.ids, links: seen.links };
}

function brokenLinks(pages) {
  const broken = [];
  for (const [file, { links }] of pages) {
    for (const link of new Set(links.filter((one) => one.startsWith("file:")))) {
      const url = new URL(link);
      const target = fileURLToPath(url.origin === "null" ? `file://${url.pathname}` : url);
      const heading = decodeURIComponent(url.hash.slice(1));
      if (!fs.existsSync(target)) broken.push(`${file}: link to ${target}, which does not exist`);
      else if (heading && pages.has(target) && !pages.get(target).ids.has(heading) && !heading.includes("=")) {
        broken.push(`${file}: link to #${heading} of ${target}, which it does not have`);
      }
    }
  }
  return broken;
}

// The catalogue, used as a reader without a mouse would: what is typed filters the rows, and the address keeps it.
async function useCatalogue(browser, root) {
  const page = await browser.newPage();
  const state = () => page.evaluate(() => ({
    count: document.getElementById("count").textContent,
    shown: [...document.querySelectorAll("#measures tbody tr")].filter((row) => row.checkVisibility()).length,
    first: document.querySelector("#measures tbody tr:not([hidden]) code")?.textContent,
    hash: location.hash,
  }));
  const problems = [];
  const expect = async (what, wanted) => {
    const found = await state();
    for (const [key, value] of Object.entries(wanted)) {
      if (found[key] !== value) problems.push(`catalogue.html: ${what}: ${key} is ${found[key]}, expected ${value}`);
    }
    return found;
  };
  const address = pathToFileURL(path.join(root, "catalogue.html")).href;
  await page.goto(address);
  const all = (await state()).shown;
  await page.focus("#filters [name=q]");
  await page.keyboard.type("tpr");
  await page.keyboard.press("Tab");
  await page.keyboard.type("one class");
  const typed = await expect("tpr, of one class", { first: "recall", hash: "#q=tpr&of=class" });
  if (!typed.count.startsWith(`${typed.shown} of ${all} `)) problems.push(`catalogue.html: says ${typed.count}`);
  await page.goto("about:blank");
  await page.goto(address + typed.hash);
  await expect("the address of a selection", typed);
  await page.focus("#filters button");
  await page.keyboard.press("Enter");
  await new Promise((resolve) => setTimeout(resolve, 100));
  await expect("show all", { shown: all, hash: "" });
  await page.setJavaScriptEnabled(false);
  await page.goto("about:blank");
  await page.goto(`${address}#q=tpr`);
  const whole = await page.$$eval("#measures tbody tr", (rows) => rows.filter((row) => row.checkVisibility()).length);
  if (whole !== all) problems.push(`catalogue.html: ${whole} of ${all} measures without scripts`);
  await page.close();
  return problems;
}

async function main() {
  const [folder, shots] = process.argv.slice(2);
  const root = path.resolve(folder);
  const files = pagesUnder(root);
  if (shots) fs.mkdirSync(shots, { recursive: true });
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  const browser = await puppeteer.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  const pages = new Map();
  const problems = [];
  for (const file of files) {
    const short = path.relative(root, file);
    for (const name of Object.keys(SIZES)) {
      const shot = shots && path.join(shots, `${short.replaceAll(path.sep, "_").slice(0, -5)}.${name}.png`);
      const seen = await look(browser, file, name, shot);
      problems.push(...seen.problems.map((problem) => `${short} (${name}): ${problem}`));
      pages.set(file, { ids: new Set(seen.ids), links: seen.links });
    }
  }
  problems.push(...(await useCatalogue(browser, root)));
  await browser.close();
  problems.push(...brokenLinks(pages));
  for (const problem of problems) console.log(problem);
  console.log(`${files.length} pages at ${Object.keys(SIZES).length} widths: ${problems.length} problems`);
  process.exitCode = problems.length ? 1 : 0;
}

main();
