import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/**
 * Runs the TypeScript block of a guide that contains `text`.
 *
 * @param names What the block takes for granted, by name.
 * @param wanted Names of what it declares.
 * @returns Those, by name.
 */
export function runBlock<Name extends string>(
  guide: string,
  text: string,
  names: Record<string, unknown>,
  wanted: readonly Name[],
): Record<Name, unknown> {
  const file = fileURLToPath(new URL(`../../demos/guides/${guide}.md`, import.meta.url));
  const blocks = [...readFileSync(file, 'utf8').matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code);
  const code = blocks.filter((block) => block.includes(text));
  if (code.length !== 1) throw new Error(`${guide}.md has ${code.length} blocks with "${text}".`);
  const { outputText } = ts.transpileModule(code[0], {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
  });
  const run = new Function(...Object.keys(names), `${outputText}\nreturn { ${wanted.join(', ')} };`);
  return run(...Object.values(names));
}
