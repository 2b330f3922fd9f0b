import {
  BoxGeometry,
  Color,
  Float32BufferAttribute,
  Int8BufferAttribute,
  LoopOnce,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  Raycaster,
  Vector3,
} from 'three';
import { describe, expect, test } from 'vitest';
import { type CharacterMesh, type JointAttachment, SkinnedInstancedMesh } from '../support/library.js';
import { createStick } from '../support/stick.js';

function createCrowd(count = 2) {
  const { root, clips } = createStick();
  return SkinnedInstancedMesh.from(root, clips, count);
}

/** Adds a morph target that moves every vertex along y. */
function withMorph(geometry: BoxGeometry): BoxGeometry {
  const { count } = geometry.getAttribute('position');
  const way = Array.from({ length: count }, () => [0, 1, 0]).flat();
  geometry.morphAttributes.position = [new Float32BufferAttribute(way, 3)];
  geometry.morphTargetsRelative = true;
  return geometry;
}

const influence = (value: number) => Object.assign(new Mesh(), { morphTargetInfluences: [value] });

const attachBox = (crowd: CharacterMesh) =>
  crowd.attachToJoint('Tip', new BoxGeometry(), new MeshBasicMaterial());

describe('events of a crowd with attachments', () => {
  test('listening on an attachment takes nothing from the crowd, and hears the same', () => {
    const crowd = createCrowd();
    const hat = attachBox(crowd);
    const feather = attachBox(hat);
    const heard: string[] = [];
    crowd.addEventListener('finished', ({ instanceId }) => heard.push(`crowd ${instanceId}`));
    hat.addEventListener('finished', ({ instanceId, target }) => {
      expect(target).toBe(hat);
      heard.push(`hat ${instanceId}`);
    });
    feather.addEventListener('loop', ({ instanceId }) => heard.push(`feather ${instanceId}`));
    crowd.play(0, 'Slide', { loop: LoopOnce }).play(1, 'Slide').update(1.1);
    expect(heard.sort()).toEqual(['crowd 0', 'feather 1', 'hat 0']);
  });

  test('an attachment alone is heard, until it is disposed', () => {
    const crowd = createCrowd();
    const hat = attachBox(crowd);
    let loops = 0;
    hat.addEventListener('loop', () => loops++);
    crowd.play(0, 'Slide').update(1.1);
    expect(loops).toBe(1);
    hat.dispose();
    crowd.update(1);
    expect(loops).toBe(1);
  });

  test('a listener may dispose an attachment', () => {
    const crowd = createCrowd();
    const hats = [attachBox(crowd), attachBox(crowd)];
    let loops = 0;
    hats[0].addEventListener('loop', () => hats[0].dispose());
    hats[1].addEventListener('loop', () => loops++);
    crowd.play(0, 'Slide').update(1.1).update(1);
    expect(loops).toBe(2);
    expect(crowd.children).toEqual([hats[1]]);
  });
});

test('swapping on an attachment swaps the whole character', () => {
  const crowd = createCrowd();
  const hat = attachBox(crowd);
  const red = new Color(1, 0, 0);
  crowd.setColorAt(0, red);
  hat.setColorAt(0, red);
  crowd.play(1, 'Slide');
  hat.swapInstances(0, 1);
  expect(crowd.getClipAt(0)).toBe('Slide');
  for (const mesh of [crowd, hat])
    expect(mesh.instanceColor?.array.slice(3)).toEqual(new Float32Array([1, 0, 0]));
});

describe('an attachment of an attachment', () => {
  function createChain() {
    const crowd = createCrowd(2);
    const hat = attachBox(crowd);
    const feather = attachBox(hat);
    return { crowd, hat, feather };
  }

  test('has as many instances as the crowd', () => {
    const { crowd, hat, feather } = createChain();
    feather.setColorAt(1, new Color(1, 0, 0)).setPartVisibleAt(0, 0, false);
    for (const grow of [crowd, feather]) {
      grow.setCapacity(grow.capacity * 4);
      crowd.count = crowd.capacity;
      for (const mesh of [crowd, hat, feather]) {
        expect(mesh).toMatchObject({ capacity: crowd.capacity, count: crowd.count });
        expect(mesh.playback).toBe(crowd.playback);
        expect(mesh.instanceMatrix).toBe(crowd.instanceMatrix);
      }
    }
    const tint = new Color();
    expect(feather.getColorAt(1, tint) ?? tint).toEqual(new Color(1, 0, 0));
    expect(feather.getColorAt(31, tint) ?? tint).toEqual(new Color(1, 1, 1));
    expect([0, 1, 31].map((i) => feather.getPartVisibleAt(i, 0))).toEqual([false, true, true]);
    crowd.count = 3;
    expect([hat.count, feather.count]).toEqual([3, 3]);
    crowd.setCapacity(3);
    expect([hat.capacity, feather.capacity]).toEqual([3, 3]);
  });

  test('is swapped with the crowd', () => {
    const { crowd, feather } = createChain();
    feather.setPartVisibleAt(0, 0, false);
    crowd.swapInstances(0, 1);
    expect([0, 1].map((i) => feather.getPartVisibleAt(i, 0))).toEqual([true, false]);
  });

  test('has the copy for its owner in a clone', () => {
    const { crowd } = createChain();
    const copy = crowd.clone();
    const [hat] = copy.children as JointAttachment[];
    const [feather] = hat.children as JointAttachment[];
    expect(feather.playback).toBe(copy.playback);
    expect(feather.instanceMatrix).toBe(copy.instanceMatrix);
    copy.setCapacity(9).count = 9;
    expect(feather.count).toBe(9);
    copy.dispose();
    expect(hat.children).toEqual([]);
    expect((crowd.children[0].children[0] as JointAttachment).playback).toBe(crowd.playback);
  });
});

describe('morph weights of an attachment', () => {
  function createMorphed() {
    const crowd = createCrowd(2);
    const hat = crowd.attachToJoint('Tip', withMorph(new BoxGeometry()), new MeshBasicMaterial());
    hat.setMorphAt(1, influence(0.5));
    return { crowd, hat };
  }
  const weightOf = (mesh: CharacterMesh, index: number) => {
    const object = influence(Number.NaN);
    mesh.getMorphAt(index, object);
    return object.morphTargetInfluences[0];
  };

  test('are resized with the crowd', () => {
    const { crowd, hat } = createMorphed();
    const texture = hat.morphTexture;
    crowd.setCapacity(5);
    expect(hat.morphTexture, 'still the one that builds of node materials know').toBe(texture);
    expect(texture?.image).toMatchObject({ width: 2, height: 5 });
    expect([0, 1, 4].map((i) => weightOf(hat, i))).toEqual([0, 0.5, 0]);
  });

  test('are swapped with the crowd', () => {
    const { crowd, hat } = createMorphed();
    crowd.swapInstances(0, 1);
    expect([0, 1].map((i) => weightOf(hat, i))).toEqual([0.5, 0]);
  });

  test('are freed with it', () => {
    const { hat } = createMorphed();
    let freed = 0;
    hat.morphTexture?.addEventListener('dispose', () => freed++);
    hat.dispose();
    expect(freed).toBe(1);
    expect(hat.morphTexture).toBe(null);
  });

  test('move it as they move an object that is added to a bone', () => {
    const { root, clips, bones } = createStick();
    bones[1].rotation.z = 0.4;
    bones[1].scale.setScalar(2);
    root.updateMatrixWorld(true);
    const offset = new Matrix4().makeRotationX(0.7).setPosition(1, 2, 3);
    const crowd = SkinnedInstancedMesh.from(root, clips, 1);
    const hat = crowd.attachToJoint('Tip', withMorph(new BoxGeometry()), new MeshBasicMaterial(), offset);
    hat.setMorphAt(0, influence(0.5));

    const mesh = new Mesh(withMorph(new BoxGeometry()), new MeshBasicMaterial());
    mesh.applyMatrix4(offset);
    mesh.morphTargetInfluences = [0.5];
    bones[1].add(mesh);
    root.updateMatrixWorld(true);
    const expected = new Vector3();
    const drawn = new Vector3();
    for (let vertex = 0; vertex < 24; vertex++) {
      mesh.getVertexPosition(vertex, expected).applyMatrix4(mesh.matrixWorld);
      expect(hat.getVertexPositionAt(0, vertex, drawn).distanceTo(expected)).toBeLessThan(1e-5);
    }
  });
});

describe('what is attached to a hidden character', () => {
  /** Whether a ray down onto an instance's box hits it. */
  function hits(crowd: SkinnedInstancedMesh, mesh: CharacterMesh, index: number): boolean {
    crowd.updateMatrixWorld(true);
    const matrix = crowd.getSocketMatrixAt(index, 'Tip', new Matrix4());
    const { x } = new Vector3().setFromMatrixPosition(matrix);
    const found = new Raycaster(new Vector3(x, 9, 0), new Vector3(0, -1, 0)).intersectObject(mesh, false);
    return found.some(({ instanceId }) => instanceId === index);
  }
  function createApart() {
    const crowd = createCrowd(3);
    for (let i = 0; i < 3; i++) crowd.setMatrixAt(i, new Matrix4().makeTranslation(i * 10, 0, 0));
    const sword = attachBox(crowd);
    const gem = attachBox(sword);
    return { crowd, sword, gem };
  }

  test('is hidden too, until the character is shown again', () => {
    const { crowd, sword, gem } = createApart();
    expect([0, 1].map((i) => hits(crowd, sword, i))).toEqual([true, true]);
    crowd.setVisiblePartsAt(1, []);
    for (const mesh of [sword, gem]) {
      expect([0, 1, 2].map((i) => hits(crowd, mesh, i))).toEqual([true, false, true]);
      expect(mesh.getPartVisibleAt(1, 0), 'what was asked of the attachment itself').toBe(true);
      expect(mesh.parts?.texture.data[7], 'as the shader reads it').toBe(-1);
    }
    sword.setPartVisibleAt(1, 0, true);
    expect(hits(crowd, sword, 1)).toBe(false);
    crowd.setPartVisibleAt(1, 'StickMesh', true);
    for (const mesh of [sword, gem]) expect(hits(crowd, mesh, 1)).toBe(true);
  });

  test('stays as it was set itself', () => {
    const { crowd, sword } = createApart();
    sword.setPartVisibleAt(0, 0, false);
    crowd.setVisiblePartsAt(0, []).setPartVisibleAt(0, 0, true);
    expect(hits(crowd, sword, 0)).toBe(false);
    expect(sword.getPartVisibleAt(0, 0)).toBe(false);
  });

  test('stays hidden through changes of the crowd, and in what is attached later', () => {
    const { crowd, sword, gem } = createApart();
    crowd.setVisiblePartsAt(1, []);
    crowd.setCapacity(600);
    const ring = attachBox(crowd);
    crowd.swapInstances(1, 2);
    for (const mesh of [sword, gem, ring]) {
      expect([0, 1, 2].map((i) => hits(crowd, mesh, i))).toEqual([true, true, false]);
    }
    const copy = crowd.clone();
    const [clonedSword, clonedRing] = copy.children as JointAttachment[];
    for (const mesh of [clonedSword, clonedSword.children[0] as JointAttachment, clonedRing]) {
      expect([0, 1, 2].map((i) => hits(copy, mesh, i))).toEqual([true, true, false]);
    }
    expect(hits(crowd, sword.clone(), 2), 'a clone that is attached to nothing').toBe(true);
  });
});

test('an attachment that is disposed twice leaves its owner alone', () => {
  const crowd = createCrowd();
  const hat = attachBox(crowd);
  let disposed = 0;
  crowd.playback.state.plain.addEventListener('dispose', () => disposed++);
  hat.dispose().dispose();
  expect(disposed).toBe(0);
  expect(crowd.instanceMatrix.count).toBe(2);
  expect(hat.count).toBe(0);
});

test('setCapacity fires no dispose listeners', () => {
  const crowd = createCrowd();
  const hat = attachBox(crowd);
  let disposed = 0;
  for (const mesh of [crowd, hat]) mesh.addEventListener('dispose', () => disposed++);
  crowd.setCapacity(9);
  expect(disposed).toBe(0);
  crowd.dispose();
  expect(disposed).toBe(2);
});

test('a mirrored offset keeps the outside outside', () => {
  const crowd = createCrowd(1);
  const hat = crowd.attachToJoint(
    'Tip',
    new BoxGeometry(),
    new MeshBasicMaterial(),
    new Matrix4().makeScale(-1, 1, 1),
  );
  const flat = crowd.attachToJoint(
    'Tip',
    new BoxGeometry().toNonIndexed(),
    new MeshBasicMaterial(),
    new Matrix4().makeScale(-1, 1, 1),
  );
  crowd.updateMatrixWorld(true);
  for (const mesh of [hat, flat]) {
    const [hit] = new Raycaster(new Vector3(-5, 9, 0), new Vector3(0, -1, 0)).intersectObject(mesh);
    expect(hit.point.y).toBeCloseTo(0.5, 5);
  }
});

test('quantized geometry may be attached anywhere', () => {
  const crowd = createCrowd(1);
  const geometry = new BoxGeometry();
  const { array, count } = geometry.getAttribute('position');
  const small = Int8Array.from(array, (value) => value * 127);
  geometry.setAttribute('position', new Int8BufferAttribute(small, 3, true));
  const hat = crowd.attachToJoint(
    'Tip',
    geometry,
    new MeshBasicMaterial(),
    new Matrix4().makeTranslation(4, 0, 0),
  );
  const xs = Array.from({ length: count }, (_, i) => hat.getVertexPositionAt(0, i, new Vector3()).x);
  expect(Math.min(...xs)).toBeCloseTo(-5 + 4 - 63 / 127, 5);
});
