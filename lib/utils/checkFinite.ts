/** @throws If a number is not finite. */
export function checkFinite(value: number, what: string, caller: string): void {
  if (!Number.isFinite(value)) throw new Error(`${caller}: ${what} is ${value}; use a finite number.`);
}
