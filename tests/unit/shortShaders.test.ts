import { readdirSync, readFileSync } from 'node:fs';
import { parseAst } from 'vite';
import { expect, test } from 'vitest';
import { glslTexts, shorten, shortenAll } from '../setup/shortShaders.mjs';

/** Lines of GLSL without comments, indentation and empty lines, read character by character; code as its words and signs. */
function linesOf(text: string): string[][] {
  let [bare, comment] = ['', ''];
  for (let i = 0; i < text.length; i++) {
    const two = text.slice(i, i + 2);
    if (comment === '' && (two === '//' || two === '/*')) comment = two;
    if (comment === '' || text[i] === '\n') bare += text[i];
    if (comment === '//' && text[i] === '\n') comment = '';
    if (comment === '/*' && two === '*/') {
      comment = '';
      i++;
    }
  }
  const lines = bare.split('\n').map((line) => line.trim());
  const words = (line: string) => line.match(/[\w.]+|\+\+|--|[-+*/<>=!&|]=|<<|>>|&&|\|\||\S/g) ?? [];
  // Behind the name of a macro, a space and a bracket is not the same as a bracket.
  const macro = (line: string) => line.match(/^#\s*\w+ *\w*\(?/)?.[0] ?? '';
  return lines
    .filter((line) => line !== '')
    .map((line) => [macro(line), ...words(line.slice(macro(line).length))]);
}

/** The same, where only those are lines that are for the preprocessor, or begin with an expression, which may be so. */
const statementsOf = (text: string): string[] =>
  linesOf(text).flatMap(([macro, ...words]) =>
    macro === '' && words[0] !== '$' ? words : [[macro, ...words].join(' ')],
  );

test('shaders that are shipped say the same as those that are tested', () => {
  let [texts, saved] = [0, 0];
  const list = (folder: string) =>
    readdirSync(folder, { encoding: 'utf8', recursive: true }).map((file) => `${folder}/${file}`);
  for (const file of [...list('lib'), ...list('shaders')]) {
    if (!file.endsWith('.ts')) continue;
    const code = readFileSync(file, 'utf8');
    if (!code.includes('/* glsl */ `')) continue;
    const textsOf = (all: string) =>
      glslTexts(parseAst(all, { lang: 'ts' }), all).map(({ start, end }) => all.slice(start, end));
    const found = textsOf(code);
    // What stands for expressions between two texts goes on with the line.
    const short = found.map((text) => shorten(text)).join('X');
    expect(linesOf(short), file).toEqual(linesOf(found.join('X')));
    const joined = textsOf(shortenAll(code, parseAst(code, { lang: 'ts' }), true)).join('X');
    expect(statementsOf(joined), file).toEqual(statementsOf(short));
    texts += found.length;
    saved += found.join('X').length - short.length;
  }
  expect(texts).toBeGreaterThan(100);
  expect(saved).toBeGreaterThan(1000);
});

test('comments go, and spaces that part nothing', () => {
  expect(shorten('\n  // all of it\n\n  a = b( c );  /* nor\n this */ // and this\n#define X ( 1 )\n')).toBe(
    '\na=b(c);\n#define X ( 1 )\n',
  );
  expect(shorten('\nf( ( a ) * (\n  b ) )\n  -c\nd\n - ${', true)).toBe('\nf((a)*(b))-c\nd\n- ${');
  expect(shorten('a - - b + + c; highp float d = ')).toBe('a - - b + + c;highp float d = ');
  expect(shorten(' / ')).toBe(' / ');
  for (const line of ['// goes on \\', '#define X \\']) {
    expect(() => shorten(`a;\n  ${line}\nb;\n`)).toThrow(
      `the line "${line}" goes on in the next; use one line.`,
    );
  }
});
