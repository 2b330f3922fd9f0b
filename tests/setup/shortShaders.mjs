/** What a template literal begins with that holds GLSL. */
const GLSL = /\/\* glsl \*\/\s*$/;

/**
 * Leaves out lines that are comments, and indentation. Line breaks stay, so that source maps do.
 *
 * @param {string} text GLSL, as it stands in a template literal.
 * @returns {string}
 * @throws {Error} If a line goes on in the next one: that may be a comment, and then begins with what is code.
 */
export function shorten(text) {
  const [continued] = /[^\n]*\\\r?\n/.exec(text) ?? [];
  if (continued !== undefined)
    throw new Error(`shorten: the line "${continued.trim()}" goes on in the next; use one line.`);
  return text.replace(/\n[ \t]*\/\/[^\n]*(?=\n)/g, '\n').replace(/\n[ \t]+/g, '\n');
}

/**
 * Vite plugin: leaves comment lines and indentation out of shaders in template literals behind a comment that says `glsl`. Nobody
 * minifies these who uses the library.
 */
export function shortShaders() {
  return {
    name: 'short-shaders',
    enforce: 'pre',
    transform(code, id) {
      if (!/\.ts$/.test(id) || !code.includes('/* glsl */ `')) return null;
      let text = code;
      for (const { start, end } of glslTexts(this.parse(code, { lang: 'ts' }), code).reverse())
        text = text.slice(0, start) + shorten(text.slice(start, end)) + text.slice(end);
      return { code: text, map: null };
    },
  };
}

/**
 * Where the texts of template literals are that hold GLSL, in order; those with expressions in them have several.
 *
 * @param {object} program The code, parsed.
 * @param {string} code
 * @returns {{ start: number, end: number }[]}
 */
export function glslTexts(program, code) {
  const found = [];
  collect(program, code, found);
  return found.sort((a, b) => a.start - b.start);
}

function collect(node, code, found) {
  if (node === null || typeof node !== 'object') return;
  if (node.type === 'TemplateLiteral' && GLSL.test(code.slice(0, node.start))) found.push(...node.quasis);
  for (const child of Object.values(node)) collect(child, code, found);
}
