/** How names of levels of detail end in many files: `Body_LOD1`, `Body.lod2`, `BodyLOD1`; with the number of a primitive after it. */
const LOD_SUFFIX = /[\s_.-]?lod[\s_.-]?\d+(?=(_\d+)?$)/i;

/**
 * Finds the parts of a character that the meshes of a level of detail stand for: those of the same names, or of the names
 * without `_LOD1` and the like. Of several parts with one name the first mesh of that name is the first, and so on.
 *
 * @param names Of the level's meshes.
 * @param paths For each part of the character the names it is known by, its mesh's first.
 * @param renamed Name or number of the part for meshes that are called otherwise.
 * @returns For each mesh the number of its part.
 * @throws If a mesh is none of the parts.
 */
export function matchParts(
  names: readonly string[],
  paths: readonly (readonly string[])[],
  renamed: Readonly<Record<string, string | number>>,
  caller: string,
): number[] {
  const found = new Map<string, number>();
  return names.map((name) => {
    const asked = Object.hasOwn(renamed, name) ? renamed[name] : undefined;
    if (typeof asked === 'number' && asked in paths) return asked;
    const wanted = asked ?? name;
    for (const candidate of [String(wanted), name.replace(LOD_SUFFIX, '')]) {
      const parts = [...paths.keys()].filter((part) => paths[part][0] === candidate);
      if (parts.length === 0) continue;
      const nth = found.get(candidate) ?? 0;
      found.set(candidate, nth + 1);
      return parts[Math.min(nth, parts.length - 1)];
    }
    if (paths.length === 1 && asked === undefined) return 0;
    const parts = paths.map(([first]) => `"${first}"`).join(', ');
    throw new Error(
      `${caller}: mesh "${name}" is none of the character's parts${asked === undefined ? '' : `, nor is "${asked}"`}, which are ${parts}; ` +
        `say which it stands for, e.g. parts: { '${name}': '${paths[0][0]}' }.`,
    );
  });
}
