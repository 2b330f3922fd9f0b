import { anchorOf } from '../../setup/docs.mjs';

/** Links and pictures of a Markdown file that lead to other files or headings. */
export const linksOf = (markdown: string) =>
  [...markdown.matchAll(/\]\(([^)\s]+)\)/g)]
    .filter(([, link]) => !/^https?:/.test(link))
    .map(([, link]) => {
      const [path, anchor] = link.split('#');
      return { link, path, anchor };
    });

/** Fenced blocks of a language in a Markdown file. */
export const blocksOf = (markdown: string, language: string) =>
  [...markdown.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, code]) => code);

/** Anchors of a Markdown file's headings. */
export const headings = (markdown: string) =>
  [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, text]) => anchorOf(text));
