import type { GLTF } from '@gltf-transform/core';

/**
 * The first of a file's references between nodes, meshes and skins that leads nowhere, in words; null if there is none. Loaders
 * fail at these with errors of JavaScript.
 */
export function danglingReference(json: GLTF.IGLTF): string | null {
  const { scene, scenes = [], nodes = [], meshes = [], skins = [], animations = [], accessors = [] } = json;
  const sizes = {
    scenes: scenes.length,
    nodes: nodes.length,
    meshes: meshes.length,
    skins: skins.length,
    accessors: accessors.length,
  };
  type List = keyof typeof sizes;
  let found: string | null = null;
  const check = (field: string, list: List, ...indices: (number | undefined)[]) => {
    const wrong = indices.find((index) => index !== undefined && !(index >= 0 && index < sizes[list]));
    if (wrong !== undefined) found ??= `its ${field} says ${wrong}, and it has ${sizes[list]} ${list}`;
  };
  if (scenes.length > 0) check('scene', 'scenes', scene);
  for (const [i, one] of scenes.entries()) check(`scenes[${i}].nodes`, 'nodes', ...(one.nodes ?? []));
  for (const [i, { children = [], mesh, skin }] of nodes.entries()) {
    check(`nodes[${i}].children`, 'nodes', ...children);
    check(`nodes[${i}].mesh`, 'meshes', mesh);
    check(`nodes[${i}].skin`, 'skins', skin);
  }
  for (const [i, { joints = [], inverseBindMatrices }] of skins.entries()) {
    check(`skins[${i}].joints`, 'nodes', ...joints);
    check(`skins[${i}].inverseBindMatrices`, 'accessors', inverseBindMatrices);
  }
  for (const [i, { channels = [], samplers = [] }] of animations.entries()) {
    for (const { target } of channels) check(`animations[${i}].channels`, 'nodes', target?.node);
    for (const { input, output } of samplers) check(`animations[${i}].samplers`, 'accessors', input, output);
  }
  for (const [i, { primitives = [] }] of meshes.entries()) {
    for (const { indices, attributes = {} } of primitives) {
      check(`meshes[${i}].primitives`, 'accessors', indices, ...Object.values(attributes));
    }
  }
  return found;
}
