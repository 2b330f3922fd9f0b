import { find } from '../lib/page.js';

const files = import.meta.glob<string>(['../*.ts', '../*/*.{ts,tsx}', '../*/*/*.ts'], {
  query: '?raw',
  import: 'default',
});

/** An import of another file of the demos. */
const IMPORT = /(from |import )'(\.[^']*)\.js'/;

async function show(name: string): Promise<void> {
  const file = [`../${name}`, `../${name}x`].find((path) => path in files);
  find('[data-title]').textContent = file ? name : `There is no ${name} here.`;
  document.title = name;
  if (file === undefined) return;
  const code = await files[file]();
  find('.source').replaceChildren(...code.split('\n').flatMap((text) => [...lineOf(text, name), '\n']));
  if (name.endsWith('/main.ts')) {
    const page = document.createElement('a');
    page.href = `../${name.replace('main.ts', 'index.html')}`;
    page.textContent = 'the page';
    find('[data-page]').replaceChildren(page, ' · ');
  }
}

/** A line of code: what it imports leads there, comments stand back. */
function lineOf(text: string, name: string): (Node | string)[] {
  const imported = text.match(IMPORT);
  if (imported !== null) {
    const link = document.createElement('a');
    const target = new URL(`${imported[2]}.ts`, `https://demos/${name}`).pathname.slice(1);
    link.href = `?of=${target}`;
    link.textContent = imported[2];
    const [before, after] = text.split(imported[2]);
    return [before, link, after];
  }
  if (!/^\s*(\/\/|\/\*|\*)/.test(text)) return [text];
  const comment = document.createElement('em');
  comment.textContent = text;
  return [comment];
}

show(new URLSearchParams(location.search).get('of') ?? 'comparison/main.ts').then(() => {
  document.body.dataset.ready = '1';
});
