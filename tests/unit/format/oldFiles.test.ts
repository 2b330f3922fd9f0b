import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { MeshoptDecoder, MeshoptEncoder, MeshoptSimplifier } from 'meshoptimizer';
import type { LevelMesh } from 'skinned-instanced-mesh';
import {
  bakedCharactersOf,
  readBoneTexture,
  SkinnedInstancedMeshExtension,
  writeBoneTexture,
} from 'skinned-instanced-mesh/files';
import { VertexTexture } from 'skinned-instanced-mesh/vertex-textures';
import { Vector3 } from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { describe, expect, test } from 'vitest';
import { parseGlb } from '../../../lib/format/glb.js';
import { bakeEveryKind, bakeVertices, createArm } from '../../support/bakedFiles.js';
import { exportGlb } from '../../support/exportGlb.js';
import { schemaErrors } from '../../support/jsonSchema.js';
import { type BoneTexture, LoopOnceOptions, SkinnedInstancedMesh } from '../../support/library.js';

/**
 * Files as each version of the format has written them, which later versions have to read. They were made once, by
 * `SIM_WRITE_FILES=1 npx vitest run --project unit tests/unit/format/oldFiles`, and are never made again: whoever changes what is written
 * raises the version, and adds a folder.
 */
const FOLDERS = fileURLToPath(new URL('../../files', import.meta.url));
const NEWEST = 'v1';
/** One of them is more than a bone texture. */
const CHARACTER = 'character.glb';

const SCHEMA = JSON.parse(
  readFileSync(new URL('../../../demos/guides/SIM_baked_animation.schema.json', import.meta.url), 'utf8'),
);

const kinds = bakeEveryKind();
const vertices = bakeVertices();

if (process.env.SIM_WRITE_FILES) {
  await MeshoptEncoder.ready;
  mkdirSync(`${FOLDERS}/${NEWEST}`, { recursive: true });
  const all = Object.entries(kinds).map(([kind, { boneTexture }]) => [kind, boneTexture] as const);
  for (const [kind, boneTexture] of [...all, ...Object.entries(vertices)]) {
    const path = `${FOLDERS}/${NEWEST}/${kind}.glb`;
    const meshoptEncoder = boneTexture.precision === 'half' ? MeshoptEncoder : undefined;
    if (!existsSync(path)) writeFileSync(path, writeBoneTexture(boneTexture, { name: kind, meshoptEncoder }));
  }
  const path = `${FOLDERS}/${NEWEST}/${CHARACTER}`;
  if (!existsSync(path)) writeFileSync(path, await writeCharacter());
}

/** A character with its meshes, levels and all else that a file can have. */
async function writeCharacter(): Promise<Uint8Array> {
  await MeshoptSimplifier.ready;
  const { root, clips } = createArm();
  const into = await exportGlb(root, clips);
  const { geometry, boneTexture } = SkinnedInstancedMesh.from(root, clips, 1);
  return writeBoneTexture(boneTexture, {
    into,
    meshoptEncoder: MeshoptEncoder,
    name: 'Arm',
    bakeOptions: { precision: 'float', sockets: [] },
    hiddenParts: ['Sleeve'],
    geometry,
    levels: [
      {
        ...SkinnedInstancedMesh.simplify(geometry, 0.5, MeshoptSimplifier),
        distance: 10,
        hysteresis: 0.1,
        influences: 1,
      },
      { geometry: null, distance: 50 },
    ],
  });
}

describe.each(readdirSync(FOLDERS))('files of %s', (version) => {
  const all = readdirSync(`${FOLDERS}/${version}`);
  const files = Object.keys(kinds).map((kind) => `${kind}.glb`);

  test('are there for every kind', () => {
    const wanted = Object.keys({ ...kinds, ...vertices }).map((kind) => `${kind}.glb`);
    expect(all.sort()).toEqual([...wanted, CHARACTER].sort());
  });

  test.runIf(version === NEWEST).each(all)('%s has what the schema in the guide says', (file) => {
    const { json } = parseGlb(readFileSync(`${FOLDERS}/${version}/${file}`));
    const { SIM_baked_animation } = json.extensions as Record<string, unknown>;
    expect(schemaErrors(SIM_baked_animation, SCHEMA)).toEqual([]);
    expect(schemaErrors({ ...(SIM_baked_animation as object), version: 2 }, SCHEMA)).toHaveLength(1);
  });

  test('a whole character is loaded, with its levels and hidden parts', async () => {
    const bytes = new Uint8Array(readFileSync(`${FOLDERS}/${version}/${CHARACTER}`));
    const loader = new GLTFLoader().setMeshoptDecoder(MeshoptDecoder);
    loader.register((parser) => new SkinnedInstancedMeshExtension(parser));
    const gltf = await loader.parseAsync(bytes.buffer, '');
    const [{ name, bakeOptions, hiddenParts }] = bakedCharactersOf(gltf);
    expect({ name, bakeOptions, hiddenParts }).toEqual({
      name: 'Arm',
      bakeOptions: { precision: 'float', sockets: [] },
      hiddenParts: ['Sleeve'],
    });
    const crowd = SkinnedInstancedMesh.from(gltf, 2);
    expect(crowd.levels.map(({ distance, hysteresis }) => [distance, hysteresis])).toEqual([
      [0, 0],
      [10, 0.1],
      [50, 0],
    ]);
    const { geometry, influences } = crowd.levels[1].object as LevelMesh;
    expect(geometry.index?.count).toBeGreaterThan(0);
    expect(geometry.index?.count).toBeLessThan(crowd.geometry.index?.count ?? 0);
    expect(influences).toBe(1);
    expect(crowd.levels[2].object).toBeNull();
    expect(crowd.getPartVisibleAt(0, 'Sleeve')).toBe(false);
    crowd.dispose();
  });

  test.each(Object.entries(vertices))(
    '%s.glb is read, and has the vertices that were baked',
    async (kind, baked) => {
      const bytes = readFileSync(`${FOLDERS}/${version}/${kind}.glb`);
      await expect(readBoneTexture(bytes, { meshoptDecoder: MeshoptDecoder })).rejects.toThrow(
        'pass { vertexTextures: VertexTexture } to',
      );
      const read = await readBoneTexture(bytes, {
        meshoptDecoder: MeshoptDecoder,
        vertexTextures: VertexTexture,
      });
      const { json, views } = baked.encode();
      // Files did not say from the beginning where the vertices of meshes are.
      const parts = json.parts.map(({ name, vertices: count }) => ({ name, vertices: count }));
      expect((read as VertexTexture).encode()).toEqual({ json: { ...json, parts }, views });
    },
  );

  test.each(files)('%s is read, and poses as what it was baked from', async (file) => {
    const { root, clips, boneTexture } = kinds[file.replace('.glb', '')];
    const bytes = readFileSync(`${FOLDERS}/${version}/${file}`);
    const read = await readBoneTexture(bytes, { meshoptDecoder: MeshoptDecoder });
    expect(read.encoding).toBe(boneTexture.encoding);
    expect(read.precision).toBe(boneTexture.precision);
    expect(described(read)).toEqual(described(boneTexture));

    const crowds = [read, boneTexture].map((texture) =>
      SkinnedInstancedMesh.from(root, clips, 1, { boneTexture: texture }),
    );
    const [there, here] = [new Vector3(), new Vector3()];
    const vertices = crowds[0].geometry.getAttribute('position').count;
    for (const { name, duration } of [...read.clips, { name: null, duration: 0 }]) {
      for (const share of [0, 0.3, 0.5, 1]) {
        for (const crowd of crowds) {
          if (name === null) crowd.stop(0);
          else crowd.play(0, name, { time: duration * share, ...LoopOnceOptions });
        }
        for (let vertex = 0; vertex < vertices; vertex++) {
          const [a, b] = crowds.map((crowd, i) =>
            crowd.getVertexPositionAt(0, vertex, i === 0 ? here : there),
          );
          expect(a.distanceTo(b), `${name} ${share} ${vertex}`).toBeLessThan(1e-5);
        }
      }
    }
    for (const crowd of crowds) crowd.dispose();
  });
});

/** What a bone texture says of its clips and joints. */
function described({ clips, jointNames, morphNames }: BoneTexture): unknown {
  const short = clips.map(({ name, duration, markers, rootMotion }) => {
    const way = rootMotion && [...rootMotion.slice(-4)].map((value) => Math.round(value * 1e5));
    return { name, duration, markers, way };
  });
  return { clips: short, jointNames, morphNames };
}
