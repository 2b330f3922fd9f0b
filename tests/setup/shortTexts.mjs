import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'vite';

const slashed = (path) => path.replaceAll('\\', '/');
const root = slashed(fileURLToPath(new URL('../..', import.meta.url)));
const { name, version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
/** The module that will have what makes a text of a number. */
const HOME = `${root}lib/utils/messages.ts`;
const PAGE = `https://cdn.jsdelivr.net/npm/${name}@${version}/dist/production/messages.md`;

/** What takes texts for users. Functions called `…Error` and `refuse` put them into one, which has a number of its own. */
const TAKERS = /^(new \w*Error|\w+Error|refuse|warnOnce|console\.warn)$/;

/** Texts of the library in the order of their numbers, which count from 1: the same as long as no source changes. */
let numbered = null;

function allTexts() {
  if (numbered === null) {
    numbered = new Map();
    for (const file of readdirSync(`${root}lib`, { recursive: true, encoding: 'utf8' }).map(slashed).sort()) {
      if (!file.endsWith('.ts') || file.startsWith('cli')) continue;
      const code = readFileSync(`${root}lib/${file}`, 'utf8');
      for (const { text } of textsIn(parseAst(code, { lang: 'ts' }), code))
        if (!numbered.has(text)) numbered.set(text, numbered.size + 1);
    }
  }
  return numbered;
}

/**
 * The texts that a module throws and warns with, each as the expression that stands for it.
 *
 * @returns {{ start: number, end: number, text: string }[]}
 */
function textsIn(program, code) {
  const found = [];
  const take = (node) => {
    if (node?.type === 'ConditionalExpression') {
      take(node.consequent);
      take(node.alternate);
      return;
    }
    const text = readable(node, code);
    // Names alone say nothing.
    if (/[a-z]{3} | [a-z]{3}/.test(text.replace(/\$\{[^}]*\}/g, '')))
      found.push({ start: node.start, end: node.end, text });
  };
  const visit = (node) => {
    if (node === null || typeof node !== 'object') return;
    const called =
      node.callee &&
      code.slice(node.type === 'NewExpression' ? node.start : node.callee.start, node.callee.end);
    if (called && TAKERS.test(called)) node.arguments.forEach(take);
    for (const child of Object.values(node)) visit(child);
  };
  visit(program);
  return found;
}

/** The text of an expression; '' if it is of none. Expressions in it stand as they do in template literals. */
function readable(node, code) {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node?.type === 'TemplateLiteral') {
    const { quasis, expressions } = node;
    return quasis
      .map(
        ({ value }, i) =>
          value.cooked +
          (i < expressions.length ? `\${${code.slice(expressions[i].start, expressions[i].end)}}` : ''),
      )
      .join('');
  }
  if (node?.type === 'BinaryExpression') return readable(node.left, code) + readable(node.right, code);
  return '';
}

/** A module of the library whose texts are numbers, and where to read what they stand for. */
export function shortenTexts(code, program, path) {
  const numbers = allTexts();
  const found = textsIn(program, code).sort((a, b) => b.start - a.start);
  let short = code;
  for (const { start, end, text } of found)
    short = `${short.slice(0, start)}numberedText(${numbers.get(text)})${short.slice(end)}`;
  if (slashed(path) === HOME)
    return `${short}\nexport const numberedText = (n: number) => \`Message \${n} of ${PAGE}\`;`;
  return found.length === 0 ? code : `import { numberedText } from '${HOME}';\n${short}`;
}

/** Vite plugin: what the library throws and warns with becomes short, and a page is added with all texts by their numbers. */
export function shortTexts() {
  return {
    name: 'short-texts',
    enforce: 'pre',
    generateBundle() {
      this.emitFile({ type: 'asset', fileName: 'messages.md', source: messagesPage() });
    },
    transform(code, id) {
      if (!id.startsWith(`${root}lib/`) || !id.endsWith('.ts')) return null;
      return { code: shortenTexts(code, this.parse(code, { lang: 'ts' }), id), map: null };
    },
  };
}

/** All texts by their numbers, as a page. */
const messagesPage = () =>
  [
    '# Messages by number',
    `The builds of ${name} ${version} for production name messages by their numbers; builds for development have the texts.`,
    ...[...allTexts()].map(([text, number]) => `${number}. ${text.replace(/\s+/g, ' ')}`),
    '',
  ].join('\n\n');
