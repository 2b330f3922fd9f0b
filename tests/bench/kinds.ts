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
import { leaveDrawsOut } from './views.js';

const KINDS = 12;
/** Frames apart as in a game: see `FRAMES` in costs.ts. */
const FRAMES = 200;

export interface KindsRow {
  name: string;
  /** Milliseconds of JavaScript in a frame: the mean, but for the slowest tenth. */
  js: number;
  draws: number;
}

/** Draws a frame, and is timed in turn with others. */
interface Contender {
  name: string;
  scene: Scene;
  update(delta: number): void;
  js: number[];
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
 * JavaScript of a crowd of 12 kinds, beside a crowd of one kind, 12 crowds and clones. The camera turns in the middle. Draw calls
 * are left out.
 */
export async function measureKinds(renderer: string, each: number): Promise<KindsRow[]> {
  const created = await createRenderer(renderer, { antialias: false });
  leaveDrawsOut(created);
  created.renderer.setSize(64, 36);
  document.body.append(created.renderer.domElement);
  const finish = finisher(created);
  // Each way has materials of its own: three.js looks for the programs anew where they come into another scene.
  const createFigures = () => Array.from({ length: KINDS }, (_, kind) => createFigure(kind));
  const characters = createFigures().map(({ root, clips }, kind) =>
    bakeCharacter(root, kind === 0 ? clips : []),
  );
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

  const prepare = (name: string, object: Object3D, update: (delta: number) => void): Contender => {
    return { name, scene: new Scene().add(object), update, js: [], draws: 0 };
  };
  const frame = ({ scene, update }: Contender) => {
    camera.rotation.y += 0.05;
    update(1 / 60);
    created.renderer.render(scene, camera);
  };
  /** In turn, so that whatever else the machine does slows down all. */
  const time = async (contenders: readonly Contender[], rounds: number): Promise<KindsRow[]> => {
    for (let round = -3; round < rounds; round++)
      for (const contender of contenders) {
        await new Promise((resolve) => requestAnimationFrame(resolve));
        const start = performance.now();
        frame(contender);
        const end = performance.now();
        await finish();
        const { drawCalls, calls } = created.renderer.info.render as { drawCalls?: number; calls: number };
        contender.draws = drawCalls ?? calls;
        if (round >= 0) contender.js.push(end - start);
      }
    return contenders.map(({ name, js, draws }) => ({ name, js: mean(js), draws }));
  };

  const first = createFigure(0);
  const one = fill(new SkinnedInstancedMesh(bakeCharacter(first.root, first.clips), count), (i) => i);
  const crowd = fill(new SkinnedInstancedMesh(characters[0], count), (i) => i);
  const kinds = new CrowdKinds(crowd);
  for (const character of characters.slice(1)) kinds.add(character);
  for (let i = 0; i < count; i++) kinds.setKindAt(i, i % KINDS);
  const crowds = createFigures().map(({ root, clips }, kind) =>
    fill(new SkinnedInstancedMesh(bakeCharacter(root, clips), each), (i) => i * KINDS + kind),
  );
  const rows = await time(
    [
      prepare('one crowd of one kind', one, (delta) => one.update(delta)),
      prepare(`one crowd of ${KINDS} kinds`, crowd, (delta) => crowd.update(delta)),
    ],
    FRAMES,
  );
  const updateAll = (delta: number) => {
    for (const each of crowds) each.update(delta);
  };
  rows.push(...(await time([prepare(`${KINDS} crowds`, new Group().add(...crowds), updateAll)], FRAMES)));
  for (const each of [one, crowd, ...crowds]) each.dispose();

  const figures = createFigures();
  const { clips } = figures[0];
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
  rows.push(...(await time([prepare('clones with mixers', clones, updateMixers)], 5)));
  created.renderer.dispose();
  return rows;
}

/** Pages are not given finer times than a tenth of a millisecond, which a median would be one of. */
export function mean(times: number[]): number {
  const kept = times.sort((a, b) => a - b).slice(0, Math.ceil(times.length * 0.9));
  return kept.reduce((sum, time) => sum + time, 0) / kept.length;
}
