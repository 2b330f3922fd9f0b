import {
  BoxGeometry,
  Color,
  Float32BufferAttribute,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  MeshStandardMaterial,
  type Object3D,
  Raycaster,
  Vector3,
} from 'three';
import { describe, expect, test } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { captureGeometry } from '../support/capture.js';
import { captureOf, TWINS } from '../support/captures.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { createStick } from '../support/stick.js';

/** The character with a sword and a shield in hand, the shield of two meshes. */
function createKnight() {
  const { root, clips } = createCharacter();
  const add = (parent: string, name: string, color: number) => {
    const mesh = new Mesh(new BoxGeometry(0.1, 0.5, 0.1), new MeshStandardMaterial({ color }));
    mesh.name = name;
    (root.getObjectByName(parent) as Object3D).add(mesh);
    return mesh;
  };
  add('RightHand', 'Sword', 0xff0000);
  const shield = add('LeftHand', 'Shield', 0x00ff00);
  const boss = add('LeftHand', 'Boss', 0x0000ff);
  shield.add(boss);
  return { root, clips };
}

test('parts go by the names of their meshes and of the nodes above', () => {
  const { root, clips } = createKnight();
  const crowd = SkinnedInstancedMesh.from(root, clips, 4, { hiddenParts: ['Sword'] });
  expect(crowd.partNames).toEqual(['Body', 'Sword', 'Shield', 'Boss'].sort((a, b) => order(crowd, a, b)));
  expect([...crowd.partNames].sort()).toEqual(['Body', 'Boss', 'Shield', 'Sword']);
  expect(crowd.getPartVisibleAt(0, 'Sword')).toBe(false);
  expect(crowd.getPartVisibleAt(3, 'Body')).toBe(true);

  crowd.setPartVisibleAt(1, 'Shield', false);
  expect(crowd.getPartVisibleAt(1, 'Boss'), 'below the node').toBe(false);
  expect(crowd.getPartVisibleAt(2, 'Boss')).toBe(true);
  crowd.setVisiblePartsAt({ start: 2, count: 2 }, ['Body', 'Sword']);
  expect(crowd.partNames.filter((name) => crowd.getPartVisibleAt(3, name)).sort()).toEqual(['Body', 'Sword']);

  const red = new Color(1, 0, 0);
  crowd.setPartColorAt(2, 'Body', red);
  expect(crowd.getPartColorAt(2, 'Body', new Color())).toEqual(red);
  expect(crowd.getPartColorAt(1, 'Body', new Color())).toEqual(new Color(1, 1, 1));

  expect(() => crowd.setPartVisibleAt(0, 'Helmet', true)).toThrow(
    /SkinnedInstancedMesh\.setPartVisibleAt: no part "Helmet"; the character has .*"Sword"/,
  );
  expect(() => crowd.setPartColorAt(4, 'Body', red)).toThrow('no instance 4');
  expect(() => crowd.getPartVisibleAt(0, 9)).toThrow('no part 9');
  expect(() => SkinnedInstancedMesh.from(root, clips, 1, { hiddenParts: ['Hat'] })).toThrow('no part "Hat"');
});

const order = (crowd: SkinnedInstancedMesh, a: string, b: string) =>
  crowd.partNames.indexOf(a) - crowd.partNames.indexOf(b);

test('parts stay with their instances', () => {
  const { root, clips } = createKnight();
  const crowd = SkinnedInstancedMesh.from(root, clips, 3);
  crowd.setPartVisibleAt(0, 'Sword', false).setPartColorAt(0, 'Body', new Color(0, 1, 0));
  crowd.swapInstances(0, 2);
  expect(crowd.getPartVisibleAt(0, 'Sword')).toBe(true);
  crowd.setCapacity(700);
  crowd.count = 650;
  crowd.setPartVisibleAt(649, 'Boss', false);
  for (const one of [crowd, crowd.clone()]) {
    expect(one.getPartVisibleAt(2, 'Sword')).toBe(false);
    expect(one.getPartColorAt(2, 'Body', new Color())).toEqual(new Color(0, 1, 0));
    expect(one.getPartVisibleAt(649, 'Boss')).toBe(false);
    expect(one.getPartVisibleAt(648, 'Boss')).toBe(true);
  }
});

test('a ray hits what is shown, and says which part', () => {
  const { root, clips } = createKnight();
  const crowd = SkinnedInstancedMesh.from(root, clips, 2);
  crowd.setMatrixAt(1, new Matrix4().makeTranslation(3, 0, 0));
  crowd.playAll('Idle').update(0.4);
  crowd.updateMatrixWorld();
  const sword = crowd.partNames.indexOf('Sword');
  const { geometry } = crowd;
  const partIndex = geometry.getAttribute('partIndex');
  const center = new Vector3();
  const vertex = new Vector3();
  let vertices = 0;
  for (let i = 0; i < partIndex.count; i++) {
    if (partIndex.getX(i) !== sword) continue;
    center.add(crowd.getVertexPositionAt(1, i, vertex));
    vertices++;
  }
  center.divideScalar(vertices);
  const ray = new Raycaster(center.clone().add(new Vector3(0, 0, 5)), new Vector3(0, 0, -1));
  const hitParts = () => ray.intersectObject(crowd).map((hit) => (hit as { part?: string }).part);
  expect(hitParts()).toContain('Sword');
  const [hit] = ray.intersectObject(crowd);
  expect(hit.instanceId).toBe(1);
  expect(hit.normal?.length()).toBeCloseTo(1, 5);
  expect(hit.normal?.dot(ray.ray.direction)).toBeLessThan(0);
  expect(hit.uv === undefined).toBe(!geometry.hasAttribute('uv'));

  crowd.setPartVisibleAt(1, 'Sword', false);
  expect(hitParts()).not.toContain('Sword');
  crowd.setPartVisibleAt(1, 'Sword', true).setPartVisibleAt(0, 'Sword', false);
  expect(hitParts()).toContain('Sword');
});

describe.each(TWINS)('%s', (twin) => {
  test('draws the parts that are shown', async () => {
    const how = await captureOf(twin);
    const { root, clips } = createStick();
    const tip = root.getObjectByName('Tip') as Object3D;
    const rest = new MeshBasicMaterial();
    for (const name of ['A', 'B']) {
      const triangle = new Mesh(createStick().mesh.geometry.clone(), rest);
      triangle.geometry.deleteAttribute('skinIndex');
      triangle.geometry.deleteAttribute('skinWeight');
      triangle.geometry.setAttribute('position', new Float32BufferAttribute([9, 0, 0, 9, 1, 0, 9, 0, 1], 3));
      triangle.name = name;
      tip.add(triangle);
    }
    const count = 300;
    const crowd = SkinnedInstancedMesh.from(root, clips, count);
    const vertices = crowd.geometry.getAttribute('position').count;
    const parts = Array.from({ length: vertices }, (_, i) =>
      crowd.geometry.getAttribute('partIndex').getX(i),
    );
    crowd.geometry = captureGeometry(crowd.geometry);
    crowd.material = how.material(vertices);
    crowd.playAll('Slide', { timeScale: 0, time: 0.5 });

    const check = async (shown: (instance: number, name: string) => boolean) => {
      const drawn = await how.read(crowd, vertices, count);
      const expected = new Vector3();
      for (const instance of [0, 1, 7, 255, 256, 299]) {
        for (let vertex = 0; vertex < vertices; vertex++) {
          const at = (instance * vertices + vertex) * 3;
          crowd.getVertexPositionAt(instance, vertex, expected);
          if (!shown(instance, crowd.partNames[parts[vertex]])) expected.set(0, 0, 0);
          const off = new Vector3().fromArray(drawn, at).distanceTo(expected);
          expect(off, `instance ${instance}, vertex ${vertex}`).toBeLessThan(1e-4);
        }
      }
    };
    await check(() => true);
    crowd.setPartVisibleAt({ start: 0, count }, 'B', false);
    crowd.setPartVisibleAt(7, 'A', false);
    await check((i, name) => (name === 'A' ? i !== 7 : name !== 'B'));
    crowd.setPartVisibleAt(256, 'B', true).setPartVisibleAt(299, 0, false);
    await check((i, name) => (name === 'A' ? i !== 7 : name === 'B' ? i === 256 : i !== 299));
    how.dispose();
  });
});
