/**
 * A smooth closed curve through `[phase, value]` keys, phases in [0, 1) and rising. It never swings past a key's value
 * (Fritsch and Carlson, "Monotone Piecewise Cubic Interpolation", 1980), so a foot keyed to the ground stays on it.
 * Example: `curve([0, 1], [0.5, 3])(0.5)` → 3, and `(1)` → 1 again.
 */
export function curve(...keys: [phase: number, value: number][]): (phase: number) => number {
  const count = keys.length;
  const key = (i: number): [number, number] => {
    const turn = Math.floor(i / count);
    const [phase, value] = keys[i - turn * count];
    return [phase + turn, value];
  };
  const slope = (i: number): number => (key(i + 1)[1] - key(i)[1]) / (key(i + 1)[0] - key(i)[0]);
  const tangent = (i: number): number => {
    const [before, after] = [slope(i - 1), slope(i)];
    if (before * after <= 0) return 0;
    return (2 * before * after) / (before + after);
  };
  return (phase) => {
    let t = phase - Math.floor(phase);
    if (t < keys[0][0]) t += 1;
    let i = count - 1;
    while (keys[i][0] > t) i--;
    const [start, from] = key(i);
    const [end, to] = key(i + 1);
    const width = end - start;
    const u = (t - start) / width;
    return (
      (1 + 2 * u) * (1 - u) ** 2 * from +
      u * (1 - u) ** 2 * width * tangent(i) +
      u ** 2 * (3 - 2 * u) * to +
      u ** 2 * (u - 1) * width * tangent(i + 1)
    );
  };
}
