import { VertexTexture } from 'skinned-instanced-mesh/vertex-textures';
import {
  Float32BufferAttribute,
  Group,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  PlaneGeometry,
  Vector3,
} from 'three';
import { describe, expect, test } from 'vitest';

const MATERIAL = new MeshBasicMaterial();

function createMesh(): Mesh {
  return new Mesh(new PlaneGeometry(1, 1, 2, 2), MATERIAL);
}

const bake = (object: Object3D, pose: (time: number) => void) =>
  VertexTexture.bake(object, pose, { duration: 1, fps: 4 });

describe('baking in slices puts the object back', () => {
  function createPosed() {
    const mesh = createMesh();
    const { position } = mesh.geometry.attributes;
    let frames = 0;
    const pose = (time: number) => {
      frames++;
      position.setX(0, time + 5);
      mesh.position.x = 3;
      const end = performance.now() + 1;
      while (performance.now() < end);
    };
    const expectRestored = () => {
      expect(frames).toBeGreaterThan(0);
      expect(position.getX(0)).toBe(-0.5);
      expect(mesh.position.x).toBe(0);
    };
    // The first slices may end before the object is posed.
    const onceItIsPosed = (act: () => void) => () => {
      if (frames > 0) act();
    };
    return { mesh, pose, expectRestored, onceItIsPosed };
  }

  test('when it is aborted', async () => {
    const { mesh, pose, expectRestored, onceItIsPosed } = createPosed();
    const stop = new AbortController();
    const abort = onceItIsPosed(() => stop.abort(new Error('stop')));
    const options = { duration: 1, onProgress: abort, signal: stop.signal };
    await expect(VertexTexture.bakeAsync(mesh, pose, options)).rejects.toThrow('stop');
    expectRestored();
  });

  test('when onProgress throws', async () => {
    const { mesh, pose, expectRestored, onceItIsPosed } = createPosed();
    const onProgress = onceItIsPosed(() => {
      throw new Error('mine');
    });
    await expect(VertexTexture.bakeAsync(mesh, pose, { duration: 1, onProgress })).rejects.toThrow('mine');
    expectRestored();
  });
});

describe('the object is afterwards as it was, whatever the code changed', () => {
  test('matrices that are not updated by themselves', () => {
    const mesh = createMesh();
    mesh.matrixAutoUpdate = false;
    const { matrix } = mesh;
    bake(new Group().add(mesh), (time) => {
      mesh.matrix.makeTranslation(time, 0, 0);
      mesh.matrix = mesh.matrix.clone();
    });
    expect(mesh.matrix).toBe(matrix);
    expect(mesh.matrix.elements[12]).toBe(0);
    expect(mesh.matrixWorld.elements[12]).toBe(0);
  });

  test('angles that its quaternion alone would not give again', () => {
    const mesh = createMesh();
    mesh.rotation.set(0, 2, 0);
    const before = mesh.quaternion.toArray();
    bake(new Group().add(mesh), (time) => {
      mesh.rotation.y = 2 + time;
    });
    expect(mesh.rotation.toArray()).toEqual([0, 2, 0, 'XYZ']);
    expect(mesh.quaternion.toArray()).toEqual(before);
  });

  test('visibility', () => {
    const mesh = createMesh();
    bake(new Group().add(mesh), (time) => {
      mesh.visible = time < 0.5;
    });
    expect(mesh.visible).toBe(true);
  });

  test('the geometry, taken frame by frame from several', () => {
    const frames = [0, 1, 2, 3, 4].map((z) => new PlaneGeometry(1, 1, 2, 2).translate(0, 0, z));
    const mesh = new Mesh(frames[0], MATERIAL);
    const texture = bake(mesh, (time) => {
      mesh.geometry = frames[Math.round(time * 4)];
    });
    expect(mesh.geometry).toBe(frames[0]);
    expect(texture.clips[0].bounds[5]).toBe(4);
  });

  test('attributes that were replaced, and what was written into both', () => {
    const mesh = createMesh();
    const { geometry } = mesh;
    const { position } = geometry.attributes;
    bake(mesh, (time) => {
      position.setX(0, time);
      geometry.setAttribute('position', position.clone());
    });
    expect(geometry.attributes.position).toBe(position);
    expect(position.getX(0)).toBe(-0.5);
  });

  test('normals and bounds that were not there, or were computed anew', () => {
    const bare = createMesh();
    bare.geometry.deleteAttribute('normal');
    const lit = createMesh();
    lit.position.z = 1;
    lit.geometry.computeBoundingSphere();
    lit.geometry.computeBoundingBox();
    const { boundingSphere, boundingBox } = lit.geometry;
    const radius = boundingSphere?.radius;
    bake(new Group().add(bare, lit), (time) => {
      for (const { geometry } of [bare, lit]) {
        geometry.attributes.position.setZ(4, time);
        geometry.computeVertexNormals();
        geometry.computeBoundingSphere();
        geometry.computeBoundingBox();
      }
    });
    expect(bare.geometry.hasAttribute('normal')).toBe(false);
    expect(bare.geometry.boundingSphere).toBeNull();
    expect(bare.geometry.boundingBox).toBeNull();
    expect(lit.geometry.attributes.normal.array.slice(0, 3)).toEqual(Float32Array.of(0, 0, 1));
    expect(lit.geometry.boundingSphere).toBe(boundingSphere);
    expect(boundingSphere?.radius).toBe(radius);
    expect(boundingBox?.max).toEqual(new Vector3(0.5, 0.5, 0));
  });

  test('influences of morph targets in an array that was replaced', () => {
    const geometry = new PlaneGeometry(1, 1);
    geometry.morphAttributes.position = [new Float32BufferAttribute(new Float32Array(12), 3)];
    const mesh = new Mesh(geometry, MATERIAL);
    mesh.morphTargetInfluences = [0.25];
    const influences = mesh.morphTargetInfluences;
    bake(mesh, (time) => {
      influences[0] = time;
      mesh.morphTargetInfluences = [time];
    });
    expect(mesh.morphTargetInfluences).toBe(influences);
    expect(influences).toEqual([0.25]);
  });
});

test('nodes that a motion adds or takes away are as they were', () => {
  const [first, second, third] = [createMesh(), createMesh(), createMesh()];
  const inner = new Group().add(third);
  const root = new Group().add(first, inner, second);
  const pose = () => {
    root.add(new Group().add(second), createMesh());
    first.add(createMesh());
    third.removeFromParent();
  };
  const { vertexData } = bake(root, pose);
  expect(vertexData.parts).toHaveLength(3);
  expect(root.children).toEqual([first, inner, second]);
  expect(inner.children).toEqual([third]);
  expect(third.parent).toBe(inner);
  expect(second.parent).toBe(root);
  expect(first.children).toEqual([]);
});
