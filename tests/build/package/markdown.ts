/** Links and pictures of a Markdown file that lead to other files or headings. */
export const linksOf = (markdown: string) =>
  [...markdown.matchAll(/\]\(([^)\s]+)\)/g)]
    .filter(([, link]) => !/^https?:/.test(link))
    .map(([, link]) => {
      const [path, anchor] = link.split('#');
      return { link, path, anchor };
    });

/** Kilobytes of both entries, minified and compressed, as a Markdown file has them. */
export const sizesIn = (markdown: string) =>
  (markdown.match(/The main entry is (\d+) kB minified and compressed, `.\/webgpu` with it (\d+) kB/) ?? [])
    .slice(1)
    .map(Number);

/** Names of what `npm run bench` can measure, as its program lists them. */
export const benchesIn = (program: string) => {
  const [, kinds = ''] = program.match(/^const kinds = \{\n(.*?)^\};/ms) ?? [];
  return [...kinds.matchAll(/^ {2}(\w+)[,:]/gm)].map(([, name]) => name);
};

/** Fenced blocks of a language in a Markdown file. */
export const blocksOf = (markdown: string, language: string) =>
  [...markdown.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, code]) => code);

/** Anchors of a Markdown file's headings, as GitHub and TypeDoc make them. */
export const headings = (markdown: string) =>
  [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, text]) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
