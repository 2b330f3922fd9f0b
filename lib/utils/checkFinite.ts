/** @throws If a number is not finite. */
export function checkFinite(value: number, what: string): void {
  if (!Number.isFinite(value)) throw new Error(`The ${what} is ${value}; use a finite number.`);
}
