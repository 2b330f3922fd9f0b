import { find } from '../../lib/page.js';

export const percent = (share: number): string => `${(share * 100).toFixed(3)} %`;

/** A row of the table of figures; its cells after the first two. */
export function addRow(label: string, unit: string, ...values: string[]): HTMLTableCellElement[] {
  const row = find<HTMLTableSectionElement>('[data-figures]').insertRow();
  const cells = [label, unit, ...values].map((text) => {
    const cell = row.insertCell();
    cell.textContent = text;
    return cell;
  });
  return cells.slice(2);
}
