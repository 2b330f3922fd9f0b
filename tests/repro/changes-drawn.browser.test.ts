import {
  BoxGeometry,
  type BufferGeometry,
  Float32BufferAttribute,
  Mesh,
  MeshBasicMaterial,
  Vector3,
} from 'three';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { captureGeometry } from '../support/capture.js';
import { captureOf, TWINS } from '../support/captures.js';
import { BoneTexture, type CharacterMesh, SkinnedInstancedMesh } from '../support/library.js';
import { createStick } from '../support/stick.js';

/** Adds a morph target that moves every vertex along y. */
function withMorph<T extends BufferGeometry>(geometry: T): T {
  const { count } = geometry.getAttribute('position');
  const way = Array.from({ length: count }, () => [0, 1, 0]).flat();
  geometry.morphAttributes.position = [new Float32BufferAttribute(way, 3)];
  geometry.morphTargetsRelative = true;
  return geometry;
}

const influence = (value: number) => Object.assign(new Mesh(), { morphTargetInfluences: [value] });

const RUNS = TWINS.flatMap((twin) =>
  (['quaternion', 'tracks'] as const).map((encoding) => [twin, encoding] as const),
);

describe.each(RUNS)('%s draws a crowd of encoding %s as it is', (twin, encoding) => {
  let how: Awaited<ReturnType<typeof captureOf>>;
  beforeAll(async () => {
    how = await captureOf(twin);
  });
  afterAll(() => how.dispose());

  /** A crowd whose vertices can be read back, with something attached, and something to that. */
  function createCrowd(count: number, clips?: string[], layers: { name: string }[] = []) {
    const { root, mesh, clips: all } = createStick({ Slide: 1, Glide: 3 });
    withMorph(mesh.geometry);
    mesh.updateMorphTargets();
    const boneTexture = BoneTexture.bake(root, all, { clips, encoding });
    const crowd = SkinnedInstancedMesh.from(root, all, count, { boneTexture, layers });
    const hat = crowd.attachToJoint('Tip', withMorph(new BoxGeometry()), new MeshBasicMaterial());
    const feather = hat.attachToJoint('Tip', new BoxGeometry(), new MeshBasicMaterial());
    const all3 = [crowd, hat, feather];
    for (const one of all3) {
      // Each is read back by itself.
      one.removeFromParent();
      const vertices = one.geometry.getAttribute('position').count;
      one.geometry = captureGeometry(one.geometry);
      one.material = how.material(vertices);
    }
    const bake = (names: string[]) => {
      const chosen = all.filter(({ name }) => names.includes(name));
      chosen.sort((a, b) => names.indexOf(a.name) - names.indexOf(b.name));
      return BoneTexture.bake(root, chosen, { fps: 12, encoding });
    };
    return { crowd, hat, feather, all: all3, bake };
  }

  /** Compares what is drawn with what the CPU says; what is hidden is drawn as nothing, where the crowd is. */
  async function check(one: CharacterMesh, instances: number[], what: string) {
    const vertices = one.geometry.getAttribute('position').count;
    if (one.morphTexture !== null) one.morphTexture.needsUpdate = true;
    const drawn = await how.read(one, vertices, one.count);
    const expected = new Vector3();
    for (const instance of instances) {
      for (let vertex = 0; vertex < vertices; vertex++) {
        one.getVertexPositionAt(instance, vertex, expected);
        if (one.parts?.isDrawn(instance, 0) === false) expected.set(0, 0, 0);
        const off = new Vector3().fromArray(drawn, (instance * vertices + vertex) * 3).distanceTo(expected);
        expect(off, `${what}: instance ${instance}, vertex ${vertex}`).toBeLessThan(1e-4);
      }
    }
  }

  test('that grows, after it was drawn', async () => {
    const { crowd, hat, all } = createCrowd(3);
    crowd.setMorphAt(1, influence(0.5));
    hat.setMorphAt(2, influence(0.25));
    crowd.play(0, 'Slide', { time: 0.5, timeScale: 0 }).play(2, 'Glide', { time: 2, timeScale: 0 });
    for (const one of all) await check(one, [0, 1, 2], 'before');
    crowd.setCapacity(300);
    crowd.count = 290;
    crowd.setMorphAt(280, influence(0.75));
    crowd.play(280, 'Glide', { time: 1, timeScale: 0 });
    for (const one of all) await check(one, [0, 1, 2, 279, 280], 'grown');
    crowd.count = 2;
    crowd.setCapacity(2);
    for (const one of all) await check(one, [0, 1], 'shrunk');
  });

  test('that is shown other clips', async () => {
    const { crowd, all, bake } = createCrowd(2);
    crowd
      .play(0, 'Slide', { time: 0.5 })
      .play(1, 'Slide')
      .update(0.1)
      .play(1, 'Glide', { fade: 1 })
      .update(0.2);
    for (const one of all) await check(one, [0, 1], 'before');
    crowd.boneTexture = bake(['Glide', 'Slide']);
    for (const one of all) await check(one, [0, 1], 'other clips');
    crowd.boneTexture = bake([]);
    for (const one of all) await check(one, [0, 1], 'no clips');
    crowd.setPartVisibleAt(1, 0, false);
    for (const one of all) await check(one, [0, 1], 'no clips, hidden');
    crowd.boneTexture = bake(['Slide']);
    crowd.play(0, 'Slide', { time: 0.25 });
    for (const one of all) await check(one, [0, 1], 'clips again');
  });

  test('that became a copy of another, and lost what it wore', async () => {
    const { crowd, all } = createCrowd(2);
    crowd.setMorphAt(1, influence(0.5));
    for (const one of all) await check(one, [0, 1], 'before');
    const { material } = crowd;
    const layers = encoding === 'tracks' ? [{ name: 'over' }] : [];
    const { crowd: other } = createCrowd(4, ['Glide'], layers);
    other.material = material;
    other.setMorphAt(3, influence(1)).play(2, 'Glide', { time: 1, timeScale: 0 });
    if (layers.length > 0) other.play(1, 'Glide', { time: 2, timeScale: 0, layer: 'over' });
    crowd.copy(other, false);
    for (const one of all) await check(one, [0, 1, 2, 3], 'copied');
    crowd.setPartVisibleAt(2, 0, false);
    for (const one of all) await check(one, [0, 1, 2, 3], 'hidden');
    crowd.setPartVisibleAt(2, 0, true);
    for (const one of all) await check(one, [0, 1, 2, 3], 'shown');
  });
});
