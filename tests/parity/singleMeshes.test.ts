import { MeshoptSimplifier } from 'meshoptimizer';
import {
  AnimationClip,
  Box3,
  BoxGeometry,
  Float32BufferAttribute,
  Group,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  MeshStandardMaterial,
  NumberKeyframeTrack,
  PointLight,
  Vector3,
} from 'three';
import { describe, expect, test, vi } from 'vitest';
import { TWINS } from '../support/captures.js';
import { createCoarsestCharacter } from '../support/coarseCharacter.js';
import { comparePair } from '../support/comparePair.js';
import { useDrawing } from '../support/drawings.js';
import {
  bakeCharacter,
  CrowdLevels,
  LoopOnceOptions,
  mergeMaterials,
  SkinnedInstancedMesh,
  simplifyGeometry,
} from '../support/library.js';
import { shaded } from '../support/pictures.js';
import { Reference } from '../support/reference.js';
import { bumps } from '../support/textures.js';

/** The figure with a board before its body: two meshes of one character. */
function createBoarded() {
  const { root, clips } = createCoarsestCharacter();
  const body = root.getObjectByName('Body') as Mesh;
  const board: Mesh = new Mesh(new BoxGeometry(0.7, 0.7, 0.1), new MeshStandardMaterial({ color: 0xff6644 }));
  board.name = 'Board';
  board.position.set(0, 0.1, 0.5);
  root.getObjectByName('Hips')!.add(board);
  shaded(root);
  return { root, clip: clips[1], body, board };
}

type Boarded = ReturnType<typeof createBoarded>;

/** Gives a mesh a morph target of its colours, and a clip that shows it. */
function blush({ board, clip }: Boarded, itemSize: number): AnimationClip {
  const { geometry } = board;
  const { count } = geometry.getAttribute('position');
  const filled = (values: readonly number[]) =>
    new Float32BufferAttribute(
      Array.from({ length: count }, () => values.slice(0, itemSize)).flat(),
      itemSize,
    );
  geometry.setAttribute('color', filled([1, 1, 1, 1]));
  geometry.morphAttributes.color = [filled([-0.8, 0.2, 0, 0])];
  geometry.morphAttributes.position = [new Float32BufferAttribute(new Float32Array(count * 3), 3)];
  geometry.morphTargetsRelative = true;
  (board.material as MeshStandardMaterial).vertexColors = true;
  board.updateMorphTargets();
  const track = new NumberKeyframeTrack('Board.morphTargetInfluences', [0, clip.duration], [0.2, 1]);
  return new AnimationClip('Blush', clip.duration, [...clip.tracks, track]);
}

describe.each(TWINS)('%s', (twin) => {
  const drawing = useDrawing(twin);

  const compare = async (name: string, { root, clip }: Boarded, options = {}, isFar = false) => {
    const time = 0.6 * clip.duration;
    const reference = new Reference(root, new Matrix4()).pose(clip, time);
    const crowd = new SkinnedInstancedMesh(bakeCharacter(root, [clip], options), 1);
    if (isFar)
      new CrowdLevels(crowd).add(simplifyGeometry(crowd.geometry, 1, MeshoptSimplifier).geometry, 0.01);
    crowd.play(0, 0, { ...LoopOnceOptions, time });
    crowd.update(0);
    const bounds = new Box3(new Vector3(-0.7, 0, -0.7), new Vector3(0.7, 1.8, 0.7));
    await comparePair(drawing, `${name}, ${twin}`, { reference, crowd, bounds }, 'directional');
  };

  test.each([3, 4])('morph targets of colours, of %i numbers', async (itemSize) => {
    const boarded = createBoarded();
    const clip = blush(boarded, itemSize);
    await compare('colours', { ...boarded, clip });
    await compare('colours, merged', { ...boarded, clip }, { mergeMaterials: mergeMaterials() });
  });

  test('meshes cast and receive shadows, or not, each by itself', async () => {
    const boarded = createBoarded();
    const { board, body } = boarded;
    board.castShadow = body.receiveShadow = false;
    await compare('shadows', boarded);
    await compare('shadows, merged', boarded, { mergeMaterials: mergeMaterials() });
    body.material = board.material;
    await compare('shadows, one material', boarded);
    await compare('shadows, far', boarded, {}, true);
  });

  test.each(['own materials', 'one material'])('normal maps with tangents or none, %s', async (shared) => {
    const boarded = createBoarded();
    const { board, root } = boarded;
    const material = new MeshStandardMaterial({ color: 0xbbbbbb, normalMap: bumps() });
    const target = board.clone();
    target.geometry = board.geometry.clone();
    target.position.y = -0.8;
    board.parent?.add(target);
    board.geometry.computeTangents();
    const { uv } = target.geometry.attributes;
    // Mirrored, where tangents of vertices are between two directions.
    for (let i = 0; i < uv.count; i++) uv.setX(i, i % 4 ? uv.getX(i) / 2 : -uv.getY(i));
    board.material = material;
    target.material = shared === 'one material' ? material : material.clone();
    root.updateMatrixWorld(true);
    await compare(`tangents, ${shared}`, boarded);
    await compare(`tangents, ${shared}, merged`, boarded, { mergeMaterials: mergeMaterials() });
  });

  test('meshes behind each other are drawn in the order of renderOrder', async () => {
    const boarded = createBoarded();
    const { board, body, root } = boarded;
    const glass = { transparent: true, opacity: 0.8, depthWrite: false };
    body.material = new MeshBasicMaterial({ color: 0x2244ff, ...glass });
    board.material = new MeshBasicMaterial({ color: 0xffee44, ...glass });
    board.renderOrder = -1;
    await compare('behind glass', boarded);
    board.renderOrder = 1;
    const group = new Group();
    group.renderOrder = 2;
    root.add(group.add(body));
    await compare('behind glass, by groups', boarded);
    for (const { material } of [board, body])
      Object.assign(material, { transparent: false, depthTest: false });
    await compare('opaque, on top', boarded);
  });
});

test('what a crowd has not of its meshes is said when they are baked', () => {
  const { root, clip, body, board } = createBoarded();
  board.add(Object.assign(new PointLight(), { name: 'Lantern' }));
  board.layers.set(3);
  // Depth decides.
  board.renderOrder = 2;
  board.material = body.material;
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const { geometry } = bakeCharacter(root, [clip]);
  const said = warn.mock.calls.join();
  for (const name of ['"Lantern"', '"layers of Board"']) expect(said).toContain(name);
  expect(geometry.groups).toEqual([]);
});
