import { readdirSync, readFileSync } from 'node:fs';
import { parseAst } from 'vite';
import { expect, test } from 'vitest';
import { glslTexts, shorten } from '../setup/shortShaders.mjs';

/** Lines of GLSL without comments, indentation and empty lines, read character by character. */
function linesOf(text: string): string[] {
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
  return lines.filter((line) => line !== '');
}

test('shaders that are shipped say the same as those that are tested', () => {
  let [texts, saved] = [0, 0];
  const list = (folder: string) =>
    readdirSync(folder, { encoding: 'utf8', recursive: true }).map((file) => `${folder}/${file}`);
  for (const file of [...list('lib'), ...list('shaders')]) {
    if (!file.endsWith('.ts')) continue;
    const code = readFileSync(file, 'utf8');
    if (!code.includes('/* glsl */ `')) continue;
    const found = glslTexts(parseAst(code, { lang: 'ts' }), code).map(({ start, end }) =>
      code.slice(start, end),
    );
    // What stands for expressions between two texts goes on with the line.
    const short = found.map(shorten).join('X');
    expect(linesOf(short), file).toEqual(linesOf(found.join('X')));
    texts += found.length;
    saved += found.join('X').length - short.length;
  }
  expect(texts).toBeGreaterThan(100);
  expect(saved).toBeGreaterThan(1000);
});

test('only lines that are comments are left out', () => {
  expect(shorten('\n  // all of it\n  a = b; // not this\n#define X 1\n')).toBe(
    '\n\na = b; // not this\n#define X 1\n',
  );
  for (const line of ['// goes on \\', '#define X \\']) {
    expect(() => shorten(`a;\n  ${line}\nb;\n`)).toThrow(
      `the line "${line}" goes on in the next; use one line.`,
    );
  }
});
