/**
 * What an error says is wrong with a file, in words for those who did not write the program: one of JavaScript itself means that the
 * file is not as its own numbers say.
 */
export function reasonOf(error: unknown): string {
  const { message } = error as Error;
  const isOfJavaScript = error instanceof TypeError || error instanceof RangeError;
  return isOfJavaScript
    ? `it is damaged, or refers to something that is not in it (${message}); export it again`
    : message;
}
