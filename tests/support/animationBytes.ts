/** Bytes of the keys and times of a file's animations, each counted once. */
export function animationBytes({ animations = [], accessors }: AnimatedDocument): number {
  const used = new Set(
    animations.flatMap(({ samplers }) => samplers.flatMap(({ input, output }) => [input, output])),
  );
  const sizes: Record<string, number> = { SCALAR: 1, VEC3: 3, VEC4: 4 };
  return [...used].reduce((sum, i) => {
    const { count, type, componentType } = accessors[i];
    return sum + count * sizes[type] * (componentType === 5126 ? 4 : componentType > 5121 ? 2 : 1);
  }, 0);
}

/** A glTF document, as far as its animations go. */
export interface AnimatedDocument {
  animations?: { samplers: { input: number; output: number }[] }[];
  accessors: { count: number; type: string; componentType: number }[];
}
