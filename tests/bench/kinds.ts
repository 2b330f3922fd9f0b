import 'skinned-instanced-mesh/webgpu';
import { bakeCharacter, CrowdKinds, SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import {
  AnimationMixer,
  BoxGeometry,
  Group,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  type Object3D,
  PerspectiveCamera,
  Scene,
} from 'three';
import * as SkeletonUtils from 'three/addons/utils/SkeletonUtils.js';
import { finisher } from '../../demos/benchmark/measure.js';
import { createRenderer } from '../../demos/lib/createRenderer.js';
import { createCoarsestCharacter } from '../support/coarseCharacter.js';

const KINDS = 12;
const FRAMES = 60;

export interface KindsRow {
  name: string;
  /** Milliseconds of JavaScript in a frame, the median. */
  js: number;
  draws: number;
}

/** Somebody in a colour, with a box on the head. */
function createFigure(kind: number) {
  const { root, clips } = createCoarsestCharacter();
  const material = new MeshStandardMaterial();
  material.color.setHSL(kind / KINDS, 0.7, 0.5);
  root.traverse((node) => {
    if ((node as Mesh).isMesh) (node as Mesh).material = material;
  });
  const hat = new Mesh(new BoxGeometry(0.3, 0.1 + kind * 0.03, 0.3), material);
  hat.position.y = 0.3;
  (root.getObjectByName('Head') as Object3D).add(hat);
  return { root, clips };
}

/**
 * JavaScript of a crowd of 12 kinds, beside a crowd of one kind, 12 crowds and clones. The camera turns in the middle. One triangle is
 * drawn of each figure.
 */
export async function measureKinds(renderer: string, each: number): Promise<KindsRow[]> {
  const created = await createRenderer(renderer, { antialias: false });
  created.renderer.setSize(64, 36);
  document.body.append(created.renderer.domElement);
  const finish = finisher(created);
  const figures = Array.from({ length: KINDS }, (_, kind) => createFigure(kind));
  const { clips } = figures[0];
  const characters = figures.map(({ root }, kind) => bakeCharacter(root, kind === 0 ? clips : []));
  const count = KINDS * each;
  const side = Math.ceil(Math.sqrt(count));
  const placeOf = (i: number, matrix: Matrix4) =>
    matrix.makeTranslation((i % side) - side / 2, 0, Math.floor(i / side) - side / 2);
  const matrix = new Matrix4();
  const fill = (crowd: SkinnedInstancedMesh, indexOf: (i: number) => number) => {
    for (let i = 0; i < crowd.count; i++) crowd.setMatrixAt(i, placeOf(indexOf(i), matrix));
    return crowd.playAll((i) => indexOf(i) % 4, { time: (i) => indexOf(i) * 0.1 });
  };
  const camera = new PerspectiveCamera(60, 16 / 9, 0.1, 1e3);
  camera.position.y = 5;

  const time = async (
    name: string,
    object: Object3D,
    update: (delta: number) => void,
    frames = FRAMES,
  ): Promise<KindsRow> => {
    object.traverse((node) => {
      if ((node as Mesh).isMesh) (node as Mesh).geometry.setDrawRange(0, 3);
    });
    const scene = new Scene().add(object);
    const js: number[] = [];
    for (let frame = 0; frame < frames + 2; frame++) {
      camera.rotation.y = frame * 0.05;
      await new Promise((resolve) => requestAnimationFrame(resolve));
      const start = performance.now();
      update(1 / 60);
      created.renderer.render(scene, camera);
      const end = performance.now();
      await finish();
      if (frame > 1) js.push(end - start);
    }
    const { drawCalls, calls } = created.renderer.info.render as { drawCalls?: number; calls: number };
    return { name, js: js.sort((a, b) => a - b)[js.length >> 1], draws: drawCalls ?? calls };
  };

  const rows: KindsRow[] = [];
  const one = fill(new SkinnedInstancedMesh(characters[0], count), (i) => i);
  rows.push(await time('one crowd of one kind', one, (delta) => one.update(delta)));
  one.dispose();

  const crowd = fill(new SkinnedInstancedMesh(characters[0], count), (i) => i);
  const kinds = new CrowdKinds(crowd);
  for (const character of characters.slice(1)) kinds.add(character);
  for (let i = 0; i < count; i++) kinds.setKindAt(i, i % KINDS);
  rows.push(await time(`one crowd of ${KINDS} kinds`, crowd, (delta) => crowd.update(delta)));
  crowd.dispose();

  const crowds = figures.map(({ root }, kind) =>
    fill(new SkinnedInstancedMesh(bakeCharacter(root, clips), each), (i) => i * KINDS + kind),
  );
  const updateAll = (delta: number) => {
    for (const each of crowds) each.update(delta);
  };
  rows.push(await time(`${KINDS} crowds`, new Group().add(...crowds), updateAll));
  for (const each of crowds) each.dispose();

  const mixers: AnimationMixer[] = [];
  const clones = new Group();
  for (let i = 0; i < count; i++) {
    const clone = SkeletonUtils.clone(figures[i % KINDS].root);
    placeOf(i, matrix).decompose(clone.position, clone.quaternion, clone.scale);
    const mixer = new AnimationMixer(clone);
    mixer
      .clipAction(clips[i % 4])
      .play()
      .startAt(-i * 0.1);
    mixers.push(mixer);
    clones.add(clone);
  }
  const updateMixers = (delta: number) => {
    for (const mixer of mixers) mixer.update(delta);
  };
  rows.push(await time('clones with mixers', clones, updateMixers, 5));
  created.renderer.dispose();
  return rows;
}
