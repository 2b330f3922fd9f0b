import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import MarkdownIt from 'markdown-it';

const root = fileURLToPath(new URL('../..', import.meta.url));
const built = join(root, 'dist-site/docs');
const TYPES = { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript', '.svg': 'image/svg+xml' };
const STYLE = `
  :root { color-scheme: light dark; font: 16px / 1.55 system-ui, sans-serif; }
  body { max-width: 860px; margin: 0 auto; padding: 20px; overflow-wrap: anywhere; }
  nav { display: flex; flex-wrap: wrap; gap: 2px 14px; font-size: 14px; }
  img { max-width: 100%; }
  table { display: block; overflow-x: auto; border-collapse: collapse; overflow-wrap: normal; }
  :is(th, td) { padding: 5px 10px; border: 1px solid light-dark(#ccd3dd, #3b4658); text-align: left; }
  code, pre { background: light-dark(#eef1f5, #222b39); border-radius: 5px; font-size: 14px; }
  code { padding: 1px 4px; }
  pre { padding: 12px 14px; overflow-x: auto; line-height: 1.45; }
  pre code { padding: 0; }`;

/** The anchor of a heading, as GitHub and TypeDoc make it. */
export const anchorOf = (text) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

// TypeDoc renders the guides of the built site with the same.
const markdown = new MarkdownIt({ html: true });
markdown.renderer.rules.heading_open = (tokens, i, options, _, self) => {
  tokens[i].attrSet('id', anchorOf(tokens[i + 1].content));
  return self.renderToken(tokens, i, options);
};

const guides = () => [
  '/demos/index.html',
  '/README.md',
  ...readdirSync(join(root, 'demos/guides'))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `/demos/guides/${file}`),
];
const titleOf = (path) =>
  path.endsWith('.html') ? 'demos' : path.match(/([^/]+)\.md$/)[1].replaceAll('-', ' ');

function pageOf(path) {
  const text = readFileSync(join(root, path), 'utf8').replace(/^---\n.*?\n---\n/s, '');
  const links = guides().map((one) => `<a href="${one}">${titleOf(one)}</a>`);
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,"><title>${titleOf(path)}</title><style>${STYLE}</style><nav>${links.join('')}</nav>${markdown.render(text)}</html>`;
}

/**
 * Vite plugin: shows the README and the guides to browsers as pages; and, where the built site has its documentation, the one that
 * `npm run docs` made, or else the README, which links to the guides.
 */
export function serveDocs() {
  return {
    name: 'serve-docs',
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        const path = normalize(decodeURIComponent((request.url ?? '/').split('?')[0]));
        const isPage = request.headers.accept?.includes('text/html') && path.endsWith('.md');
        if (isPage && existsSync(join(root, path))) {
          response.setHeader('Content-Type', 'text/html');
          return response.end(pageOf(path));
        }
        if (!path.startsWith('/demos/docs/')) return next();
        const file = join(built, path.slice('/demos/docs'.length));
        if (existsSync(file) && statSync(file).isFile()) {
          response.setHeader('Content-Type', TYPES[extname(file)] ?? 'application/octet-stream');
          return response.end(readFileSync(file));
        }
        response.writeHead(302, { Location: '/README.md' });
        response.end();
      });
    },
  };
}
