/** What a template literal begins with that holds GLSL. */
const GLSL = /\/\* glsl \*\/\s*$/;

/**
 * Leaves out comments, indentation, empty lines, and spaces that part no words. Lines for the preprocessor keep their spaces, of which
 * some matter.
 *
 * @param {string} text GLSL, as it stands in a template literal. What stands for an expression may be next to either end.
 * @param {boolean} [joins] Whether lines are put together. Compilers then say less well where an error is.
 * @param {boolean} [mayJoin] Whether the first line is, which may go on with one for the preprocessor.
 * @returns {string}
 * @throws {Error} If a line goes on in the next one: that may be a comment, and then begins with what is code.
 */
export function shorten(text, joins = false, mayJoin = false) {
  const [continued] = /[^\n]*\\\r?\n/.exec(text) ?? [];
  if (continued !== undefined)
    throw new Error(`shorten: the line "${continued.trim()}" goes on in the next; use one line.`);
  const lines = text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .split('\n')
    .map((line) => line.replace(/\/\/.*/, ''));
  const last = lines.length - 1;
  const short = lines.map((line, i) => {
    // Next to an expression a space may part its value from what follows: "a - ${-1}".
    let bare = i === 0 ? line : line.trimStart();
    if (i < last) bare = bare.trimEnd();
    // Where the value of a macro begins, a space may tell it from parameters.
    const [head] = /^\s*(#define \w+(\([^)]*\))? |#.*)?/.exec(bare) ?? [''];
    return head + bare.slice(head.length).replace(SPACES, '$1').replace(SIGNS, '$1');
  });
  let [all] = short;
  let isFree = mayJoin;
  for (const line of short.slice(1).filter((line, i) => line !== '' || i + 1 === last)) {
    // What stands for an expression may begin with one for the preprocessor, too.
    const isCode = !/^(#|\$\{|`|$)/.test(line);
    // The text's first line may come behind one for the preprocessor, and words must not become one.
    const isParted = /(^|`)$/.test(all) || (/[\w+-]$/.test(all) && /^[\w+-]/.test(line));
    all += isFree && isCode && !isParted ? line : `\n${line}`;
    isFree = joins && isCode;
  }
  return all;
}

/** What needs no spaces around it. */
const SPACES = /(?<=\S *) *([()[\]{},;=*<>?:&|!^%/]) *(?=\S)/g;
/** Nor do plus and minus, but next to each other. */
const SIGNS = /(?<=[^\s+-] *) *([+-]) *(?=[^\s+$-])/g;

/**
 * Vite plugin: shortens shaders in template literals behind a comment that says `glsl`. Nobody minifies these who uses the
 * library.
 */
export function shortShaders(joins) {
  return {
    name: 'short-shaders',
    enforce: 'pre',
    transform(code, id) {
      if (!/\.ts$/.test(id) || !code.includes('/* glsl */ `')) return null;
      return { code: shortenAll(code, this.parse(code, { lang: 'ts' }), joins), map: null };
    },
  };
}

/**
 * The same for all GLSL of a module.
 *
 * @param {string} code
 * @param {object} program The code, parsed.
 * @returns {string}
 */
export function shortenAll(code, program, joins) {
  let text = code;
  for (const { start, end } of glslTexts(program, code).reverse()) {
    const isOpen = /(^|\n)\s*(#|\$\{)[^\n]*$/.test(text.slice(0, start));
    text = text.slice(0, start) + shorten(text.slice(start, end), joins, joins && !isOpen) + text.slice(end);
  }
  return text;
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
