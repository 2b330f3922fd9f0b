/**
 * Runs something whose warnings and errors go to the console, as those of three.js and of the library do, and keeps them.
 *
 * @param warnings Gets each of them once.
 */
export async function collectWarnings<Result>(
  warnings: string[],
  work: () => Promise<Result> | Result,
): Promise<Result> {
  const { warn, error } = console;
  // three.js adds the objects that it is about, which say nothing in a line.
  const keep = (...texts: unknown[]) => {
    const text = texts.filter((one) => typeof one !== 'object').join(' ');
    if (!warnings.includes(text)) warnings.push(text);
  };
  console.warn = keep;
  console.error = keep;
  try {
    return await work();
  } finally {
    console.warn = warn;
    console.error = error;
  }
}
