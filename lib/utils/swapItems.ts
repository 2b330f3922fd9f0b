/** Exchanges items `i` and `j` of an array whose items are `size` numbers each. */
export function swapItems(array: { [index: number]: number }, i: number, j: number, size: number): void {
  for (let k = 0; k < size; k++) {
    const kept = array[i * size + k];
    array[i * size + k] = array[j * size + k];
    array[j * size + k] = kept;
  }
}
