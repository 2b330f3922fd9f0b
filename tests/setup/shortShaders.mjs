/** What a template literal begins with that holds GLSL. */
const GLSL = /\/\* glsl \*\/\s*$/;

/** Lines that are comments, and what lines begin with; line breaks stay, so that source maps do. */
const shorten = (text) => text.replace(/\n[ \t]*\/\/[^\n]*(?=\n)/g, '\n').replace(/\n[ \t]+/g, '\n');

/**
 * Vite plugin: leaves comments and indentation out of shaders in template literals behind a comment that says `glsl`. Nobody
 * minifies these who uses the library.
 */
export function shortShaders() {
  return {
    name: 'short-shaders',
    enforce: 'pre',
    transform(code, id) {
      if (!/\.ts$/.test(id) || !code.includes('/* glsl */ `')) return null;
      const found = [];
      collect(this.parse(code, { lang: 'ts' }), code, found);
      found.sort((a, b) => b.start - a.start);
      let text = code;
      for (const { start, end } of found)
        text = text.slice(0, start) + shorten(text.slice(start, end)) + text.slice(end);
      return { code: text, map: null };
    },
  };
}

/** The texts in template literals that hold GLSL. */
function collect(node, code, found) {
  if (node === null || typeof node !== 'object') return;
  if (node.type === 'TemplateLiteral' && GLSL.test(code.slice(0, node.start))) found.push(...node.quasis);
  for (const child of Object.values(node)) collect(child, code, found);
}
