/**
 * Runs something whose warnings go to the console, as those of three.js and of the library do, and keeps them.
 *
 * @param warnings Gets each of them once.
 */
export async function collectWarnings<Result>(
  warnings: string[],
  work: () => Promise<Result> | Result,
): Promise<Result> {
  const { warn } = console;
  console.warn = (...texts: unknown[]) => {
    const text = texts.join(' ');
    if (!warnings.includes(text)) warnings.push(text);
  };
  try {
    return await work();
  } finally {
    console.warn = warn;
  }
}
