// Search, light and dark, buttons that copy. The page reads as well without.
'use strict';
const base = document.currentScript.dataset.base;
const query = document.getElementById('query'), found = document.getElementById('found');

// ---- search: the index is a script, which is loaded when somebody begins to type

let index = null;
function load() {
  index ??= new Promise((done) => {
    const script = document.createElement('script');
    script.src = `${base}/search_index.js`;
    script.onload = () => done(window.search_index.map(([title, url, text]) => ({ title, url, text, low: text.toLowerCase(), head: title.toLowerCase() })));
    script.onerror = () => done([]);
    document.head.append(script);
  });
  return index;
}

function score(entry, words) {
  let sum = 0;
  for (const word of words) {
    const count = entry.low.split(word).length - 1, head = entry.head.includes(word);
    if (!count && !head) return 0;
    sum += (head ? 20 : 0) + Math.min(count, 5) + 2 * (count / (1 + entry.text.length / 500));
  }
  return sum;
}

function excerpt(entry, words) {
  const at = Math.max(0, Math.min(...words.map((w) => entry.low.indexOf(w)).filter((k) => k >= 0)) - 40);
  const text = entry.text.slice(Number.isFinite(at) ? at : 0, (Number.isFinite(at) ? at : 0) + 160);
  const line = document.createElement('small');
  const pattern = new RegExp(`(${words.map((w) => w.replace(/[^\p{L}\p{N}]/gu, '\\$&')).join('|')})`, 'gi');
  text.split(pattern).forEach((part, k) => {
    const piece = k % 2 ? document.createElement('mark') : document.createTextNode('');
    piece.textContent = part;
    line.append(piece);
  });
  return line;
}

async function search() {
  const words = query.value.toLowerCase().split(/\s+/).filter((w) => w.length > 1);
  const entries = words.length ? await load() : [];
  const best = entries.map((entry) => ({ entry, points: score(entry, words) })).filter((x) => x.points > 0)
    .sort((x, y) => y.points - x.points).slice(0, 20);
  found.replaceChildren(...best.map(({ entry }) => {
    const item = document.createElement('li'), link = document.createElement('a');
    link.href = `${base}/${entry.url}`;
    link.append(entry.title, excerpt(entry, words));
    item.append(link);
    return item;
  }));
  if (words.length && !best.length) found.textContent = 'nothing found';
  found.hidden = !words.length;
}

function choose(step) {
  const links = [...found.querySelectorAll('a')], now = links.findIndex((a) => a.classList.contains('chosen'));
  links[now]?.classList.remove('chosen');
  const next = links[(now + step + links.length) % links.length];
  next?.classList.add('chosen');
  next?.scrollIntoView({ block: 'nearest' });
}

query.addEventListener('input', search);
query.addEventListener('focus', load);
query.addEventListener('keydown', (event) => {
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') { choose(event.key === 'ArrowDown' ? 1 : -1); event.preventDefault(); }
  if (event.key === 'Enter') (found.querySelector('a.chosen') ?? found.querySelector('a'))?.click();
  if (event.key === 'Escape') { query.value = ''; search(); query.blur(); }
});
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && !/^(INPUT|TEXTAREA)$/.test(event.target.tagName)) { query.focus(); event.preventDefault(); }
});
document.addEventListener('click', (event) => { if (!event.target.closest('.search') || event.target.closest('#found a')) found.hidden = true; });

// ---- light and dark

document.getElementById('light').addEventListener('click', () => {
  const root = document.documentElement, dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const now = root.dataset.light || (dark ? 'dark' : 'light');
  root.dataset.light = now === 'dark' ? 'light' : 'dark';
  try { localStorage.setItem('light', root.dataset.light); } catch { /* private windows keep nothing */ }
});

// ---- code: what is copied are the commands, without prompts and without what they print

for (const block of document.querySelectorAll('.codehilite')) {
  const button = document.createElement('button');
  button.className = 'copy';
  button.textContent = 'copy';
  button.addEventListener('click', async () => {
    const text = block.querySelector('code').textContent, lines = text.split('\n');
    const commands = lines.filter((line) => /^[$>] /.test(line)).map((line) => line.slice(2));
    try { await navigator.clipboard.writeText(lines[0].startsWith('$ ') ? commands.join('\n') + '\n' : text); button.textContent = 'copied'; }
    catch { button.textContent = 'cannot'; }
    setTimeout(() => { button.textContent = 'copy'; }, 1500);
  });
  block.append(button);
}

// On a small screen the list of pages is closed until it is asked for.
if (matchMedia('(max-width: 48rem)').matches) document.querySelector('nav .pages').open = false;
