/** Bytes in words: `0.62 MB`, `3.1 kB`, `12 bytes`. */
export function formatBytes(bytes: number): string {
  if (bytes >= 1e5) return `${(bytes / 1e6).toFixed(2)} MB`;
  return bytes >= 1000 ? `${(bytes / 1000).toFixed(1)} kB` : `${bytes} bytes`;
}

/** A number to three digits, without zeros at its end. */
export function formatNumber(value: number): string {
  return String(Number(value.toPrecision(3)));
}

/** Lines of a table; columns of numbers are aligned to the right. */
export function formatTable(titles: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [titles, ...rows];
  const widths = titles.map((_, column) => Math.max(...all.map((row) => row[column].length)));
  const right = titles.map((_, column) => rows.every((row) => /^[-–\d]/.test(row[column])));
  return all.map((row) =>
    row
      .map((cell, column) => (right[column] ? cell.padStart(widths[column]) : cell.padEnd(widths[column])))
      .join('  ')
      .trimEnd(),
  );
}
