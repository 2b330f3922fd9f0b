import { readFileSync } from 'node:fs';
import { MeshoptEncoder } from 'meshoptimizer';
import { type WriteOptions, writeCharacter } from 'skinned-instanced-mesh/files';
import type { VertexTexture } from 'skinned-instanced-mesh/vertex-textures';
import type { Material } from 'three';
import { beforeAll, expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { modelsFolder } from '../../setup/models.mjs';
import { bakeEveryKind, bakeVertices, charactersOf, loadFile } from '../../support/bakedFiles.js';
import { bitsOf } from '../../support/bitsOf.js';
import { describeCharacter } from '../../support/characters.js';
import { exportGlb } from '../../support/exportGlb.js';
import { bakeCharacter, type Character, mergeMaterials } from '../../support/library.js';

beforeAll(() => MeshoptEncoder.ready);

/** All that is said of materials, but for what is of one page. */
function materialsOf({ material }: Character): unknown[] {
  return ([material].flat() as Material[]).map((one) =>
    JSON.parse(
      JSON.stringify(one, (key, value) =>
        /^(uuid|metadata|textures|images)$/.test(key) ? undefined : /map$/i.test(key) || value,
      ),
    ),
  );
}

/** What vertices have, each with a number: texts of all triangles take longer to compare than characters to bake. */
const vertexNumbers = new Map<string, number>();

/** The vertices of each triangle, by what they have, group by group: in whichever order they stand. */
function cornersOf({ geometry, material, boneTexture }: Character): unknown[] {
  // Vertex textures need no joints.
  const unread = boneTexture.binding === null ? /^joints_/ : /^skin/;
  const { attributes, morphAttributes, index, groups, userData } = geometry;
  const all = [
    ...Object.entries(attributes).filter(([name]) => !unread.test(name)),
    ...Object.entries(morphAttributes).flatMap(([k, list]) => list.map((one, i) => [k + i, one] as const)),
  ];
  const numbers = Array.from({ length: attributes.position.count }, (_, vertex) => {
    const text = all
      .map(
        ([name, one]) =>
          `${name} ${Array.from({ length: one.itemSize }, (_, k) => one.getComponent(vertex, k) + 0)}`,
      )
      .sort()
      .join('; ');
    if (!vertexNumbers.has(text)) vertexNumbers.set(text, vertexNumbers.size);
    return vertexNumbers.get(text);
  });
  const drawn = Array.isArray(material)
    ? groups
    : [{ start: 0, count: index?.count ?? attributes.position.count }];
  return drawn.map(({ start, count }) => {
    const triangles = Array.from({ length: count / 3 }, (_, i) => {
      const [a, b, c] = [0, 1, 2].map((k) => numbers[index?.getX(start + i * 3 + k) ?? start + i * 3 + k]);
      return [`${a}|${b}|${c}`, `${b}|${c}|${a}`, `${c}|${a}|${b}`].sort()[0];
    });
    return [userData.lacks, triangles.sort()];
  });
}

/** All that a character is. */
function contentOf(character: Character): Record<string, unknown> {
  const { material, boneTexture, parts } = character;
  const others = /^(geometry|material|boneTexture|made|levels|scene|merged)$/;
  const materials = [material].flat() as Material[];
  return {
    ...Object.fromEntries(Object.entries(character).filter(([name]) => !others.test(name))),
    data: bitsOf(boneTexture.data),
    vertices: bitsOf((boneTexture as VertexTexture).vertexData),
    parts: parts.map((part) => ({
      ...part,
      materials: part.materials.map(({ name, color }) => [
        name,
        color?.toArray(),
        materials.findIndex((one) => one.name === name),
      ]),
    })),
    materials: materialsOf(character),
    same: materials.map((one) => materials.indexOf(one)),
  };
}

async function expectSame(
  character: Character,
  options: WriteOptions = {},
  wanted = character,
): Promise<void> {
  const content = contentOf(wanted);
  const corners = cornersOf(wanted);
  for (const meshoptEncoder of [undefined, MeshoptEncoder]) {
    const [read] = await charactersOf(writeCharacter(character, { ...options, meshoptEncoder }));
    expect(contentOf(read)).toEqual(content);
    expect(cornersOf(read)).toEqual(corners);
  }
}

test.each(Object.entries({ ...bakeEveryKind(), ...bakeVertices() }))(
  '%s comes back number for number',
  (_, character) => expectSame(character),
);

/** A file as a page loads it, and what it bakes of it. */
async function expectBaked(source: ArrayBuffer | Uint8Array): Promise<void> {
  for (const precision of ['float', 'half'] as const) {
    const gltf = await loadFile(source);
    await expectSame(bakeCharacter(gltf.scene, gltf.animations, { precision }), { source, gltf });
  }
  const gltf = await loadFile(source);
  const merging = { mergeMaterials: mergeMaterials({ textures: false }) };
  const merged = bakeCharacter(gltf.scene, gltf.animations, merging);
  const whole = bakeCharacter(gltf.scene, gltf.animations);
  await expectSame(whole, { source, gltf, mergeMaterials: { textures: false } }, merged);
}

test('the built-in figure comes back as a page bakes it, also with its materials merged', async () => {
  const { root, clips } = createCharacter();
  await expectBaked(await exportGlb(root, clips));
});

for (const file of ['Knight.glb', 'RobotExpressive.glb', 'CesiumMan.glb', 'Horse.glb'])
  describeCharacter(file, () => {
    test('comes back as a page bakes it, also with its materials merged', async () => {
      await expectBaked(new Uint8Array(readFileSync(`${modelsFolder()}/${file}`)));
    });
  });
