import {
  Box3,
  BoxGeometry,
  type Camera,
  Color,
  InstancedBufferAttribute,
  Matrix4,
  MeshDepthMaterial,
  MeshStandardMaterial,
  Object3D,
  PerspectiveCamera,
  Quaternion,
  Scene,
  ShaderMaterial,
  Vector3,
  WebGLRenderer,
} from 'three';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { countCalls } from '../../demos/lib/countCalls.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { createEverything } from '../support/everything.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { changedPixels, createStage, type LightKind, picture } from '../support/pictures.js';

let renderer: WebGLRenderer;
beforeAll(() => {
  renderer = new WebGLRenderer();
  renderer.shadowMap.enabled = true;
});
afterAll(() => renderer.dispose());

const COUNT = 100;
/** Where the camera stands in the middle of the crowd; most of that is behind it or to the side. */
const MIDDLE = new Box3(new Vector3(-3, 0, -3), new Vector3(3, 2, 3));

/** Characters in rows, each with something of its own, and with hats. */
function createCrowd(perObjectFrustumCulled: boolean): SkinnedInstancedMesh {
  const { root, clips } = createCoarseCharacter();
  const crowd = SkinnedInstancedMesh.from(root, clips, COUNT, { encoding: 'tracks' });
  crowd.perObjectFrustumCulled = perObjectFrustumCulled;
  crowd.castShadow = true;
  crowd.receiveShadow = true;
  const hat = crowd.attachToJoint('Head', new BoxGeometry(0.4, 0.2, 0.4), new MeshStandardMaterial());
  const matrix = new Matrix4();
  const color = new Color();
  for (let i = 0; i < COUNT; i++) {
    // In no order: neighbours have indices that are far apart.
    const place = (i * 37) % COUNT;
    matrix.makeRotationY(i).setPosition(((place % 10) - 4.5) * 2, 0, (Math.floor(place / 10) - 4.5) * 2);
    crowd.setMatrixAt(i, matrix);
    crowd.setColorAt(i, color.setHSL(i / COUNT, 0.8, 0.6));
    hat.setColorAt(i, color.setHSL(1 - i / COUNT, 0.8, 0.4));
    crowd.play(i, i % clips.length, { time: i * 0.1 });
    if (i % 7 === 0) crowd.setPartVisibleAt(i, 0, false);
  }
  crowd.update(0.2);
  return crowd;
}

/** How many instances a mesh draws in each of its draws, shadow maps included. */
function countDrawn(crowd: SkinnedInstancedMesh): number[] {
  const drawn: number[] = [];
  for (const name of ['onBeforeRender', 'onBeforeShadow'] as const) {
    const original = crowd[name];
    crowd[name] = function (this: SkinnedInstancedMesh, ...args: never[]) {
      (original as (...args: never[]) => void).apply(this, args);
      drawn.push(this.count);
    } as never;
  }
  return drawn;
}

const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0);

test.each<LightKind>(['directional', 'spot', 'point'])(
  'pictures with a %s light are the same to the byte whether instances that are not seen are drawn or not',
  (kind) => {
    const { scene, camera } = createStage(MIDDLE, kind);
    const culled = createCrowd(true);
    const plain = createCrowd(false);
    const drawn = countDrawn(culled);
    const all = countDrawn(plain);
    for (let frame = 0; frame < 4; frame++) {
      camera.position.set(Math.sin(frame) * 6, 2, Math.cos(frame) * 6);
      camera.lookAt(frame, 1, 0);
      camera.updateMatrixWorld();
      for (const crowd of [culled, plain]) {
        crowd.update(0.1);
        if (frame === 2) {
          crowd.setMatrixAt(3, new Matrix4().makeTranslation(0.3, 0, 0.4));
          crowd.instanceMatrix.needsUpdate = true;
          crowd.setVisibleAt(11, false);
        }
        if (frame === 3) crowd.setVisibleAt(11, true).count = 80;
      }
      // Twice: with three.js r182, the first picture of a crowd after one of another may show the frame before.
      picture(renderer, scene, camera, plain);
      const expected = picture(renderer, scene, camera, plain);
      const empty = picture(renderer, scene, camera, new Object3D());
      expect(changedPixels(expected, empty), `frame ${frame} shows something`).toBeGreaterThan(2000);
      expect(changedPixels(expected, picture(renderer, scene, camera, culled), 0), `frame ${frame}`).toBe(0);
    }
    expect(drawn.length * 2).toBe(all.length);
    expect(sum(drawn) * 2).toBeLessThan(sum(all) * (kind === 'point' ? 0.6 : 0.8));
    for (const crowd of [culled, plain]) crowd.dispose();
  },
);

test('nothing is drawn where nobody is seen, and nothing sent while nothing changes', () => {
  const crowd = createCrowd(true);
  const drawn = countDrawn(crowd);
  const calls = countCalls(renderer.getContext() as WebGL2RenderingContext);
  const scene = new Scene().add(crowd) as Scene;
  const camera = new PerspectiveCamera(50, 1, 0.1, 50);
  // Towards a gap between the rows, from within the sphere around all of them.
  camera.position.set(0, 9, 0);
  camera.lookAt(0, 20, -1);
  const frame = () => {
    drawn.length = 0;
    calls.reset();
    renderer.render(scene, camera);
    return drawn[0];
  };
  expect(frame()).toBe(0);
  expect(renderer.getContext().getError()).toBe(0);
  camera.position.y = 2;
  camera.lookAt(8, 0, 5);
  const seen = frame();
  expect(seen).toBeGreaterThan(3);
  expect(seen).toBeLessThan(COUNT / 2);
  const meshes = [crowd, ...crowd.attachments];
  const triangles = meshes.reduce((sum, mesh) => sum + (seen * (mesh.geometry.index?.count ?? 0)) / 3, 0);
  expect(crowd.getViewInfo(camera)).toEqual({ visible: seen, levels: [seen], triangles, posed: seen });
  expect(crowd.getViewInfo(camera.clone())).toBeNull();
  frame();
  expect(calls.uploads).toBe(0);
  const counts = new Set([seen]);
  for (let turn = 0; turn < 8; turn++) {
    camera.rotation.y += 0.3;
    counts.add(frame());
    // Ids alone: those of the crowd and its hats, and those that are posed since they were not seen before.
    expect(calls.uploads).toBeLessThanOrEqual(2);
    if (turn > 4) expect(calls.bytes).toBeLessThanOrEqual(COUNT * 8);
  }
  expect(counts.size).toBeGreaterThan(2);
  crowd.dispose();
});

test('instances keep their own influences, textures and code of the user under overriding and double-sided materials', () => {
  const { root, clips, materials } = createEverything();
  const create = (culled: boolean) => {
    const crowd = SkinnedInstancedMesh.from(root, clips, 9, { encoding: 'tracks' });
    crowd.perObjectFrustumCulled = culled;
    for (let i = 0; i < 9; i++) {
      crowd.setMatrixAt(i, new Matrix4().makeRotationY(i).setPosition((i - 4) * 2, 0, 0));
      crowd.play(i, 0, { time: i * 0.1 });
    }
    for (const material of [crowd.material].flat() as MeshStandardMaterial[]) {
      material.transparent = true;
      material.opacity = 0.7;
      material.side = 2;
      material.onBeforeCompile = (shader) => {
        shader.vertexShader = shader.vertexShader.replace(
          '#include <begin_vertex>',
          '#include <begin_vertex>\ntransformed.y += 0.1 * float( gl_InstanceID );',
        );
      };
    }
    crowd.update(0.3);
    return crowd;
  };
  const [culled, plain] = [create(true), create(false)];
  const drawn = countDrawn(culled);
  const { scene, camera } = createStage(
    new Box3(new Vector3(-1, 0, -1), new Vector3(3, 1, 1)),
    'directional',
  );
  const compare = (label: string) => {
    const expected = picture(renderer, scene, camera, plain);
    const empty = picture(renderer, scene, camera, new Object3D());
    expect(changedPixels(expected, empty), label).toBeGreaterThan(500);
    expect(changedPixels(expected, picture(renderer, scene, camera, culled), 0), label).toBe(0);
  };
  compare('its own materials');
  scene.overrideMaterial = new MeshDepthMaterial();
  compare('an overriding material');
  expect(Math.max(...drawn)).toBeLessThan(9);
  for (const crowd of [culled, plain]) crowd.dispose();
  for (const material of materials) material.dispose();
});

test('shaders that cannot pose crowds draw all instances where they stand, and code put in afterwards finds the instance', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const still = new ShaderMaterial({
    vertexShader: `
      #ifndef USE_INSTANCING
        const mat4 instanceMatrix = mat4( 1.0 );
      #endif
      varying float height;
      void main() {
        height = position.y;
        gl_Position = projectionMatrix * modelViewMatrix * instanceMatrix * vec4( position, 1.0 );
      }`,
    fragmentShader: 'varying float height; void main() { gl_FragColor = vec4( fract( height ) ); }',
  });
  const crowds = [createCrowd(true), createCrowd(false)];
  const materials = crowds.map((crowd) => {
    const material = new MeshStandardMaterial();
    crowd.material = material;
    crowd.customDepthMaterial = undefined;
    // As libraries wrap hooks that they find.
    const { onBeforeCompile } = material;
    material.onBeforeCompile = (shader, by) => {
      onBeforeCompile.call(material, shader, by);
      shader.vertexShader = shader.vertexShader.replace(
        '#include <project_vertex>',
        'transformed.y += 0.03 * float( gl_InstanceID );\n#include <project_vertex>',
      );
    };
    return material;
  });
  const [culled, plain] = crowds;
  const drawn = countDrawn(culled);
  const { scene, camera } = createStage(MIDDLE, 'directional');
  for (const override of [null, still]) {
    scene.overrideMaterial = override;
    const expected = picture(renderer, scene, camera, plain);
    expect(changedPixels(expected, picture(renderer, scene, camera, new Object3D()))).toBeGreaterThan(500);
    expect(changedPixels(expected, picture(renderer, scene, camera, culled), 0)).toBe(0);
  }
  expect(Math.min(...drawn)).toBeLessThan(COUNT);
  warn.mockRestore();
  for (const one of [...crowds, ...materials, still]) one.dispose();
});

test('a crowd whose geometry has instanced attributes of the user is drawn whole, and says so', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const crowd = createCrowd(true);
  crowd.geometry.setAttribute('own', new InstancedBufferAttribute(new Float32Array(COUNT), 1));
  const drawn = countDrawn(crowd);
  const { scene, camera } = createStage(MIDDLE, 'directional');
  picture(renderer, scene, camera, crowd);
  expect(new Set(drawn)).toEqual(new Set([COUNT]));
  expect(warn.mock.calls.join()).toContain('"own"');
  warn.mockRestore();
  crowd.dispose();
});

test('two renderers and a camera that both draw with see the same, also one that begins later', () => {
  const other = new WebGLRenderer();
  other.shadowMap.enabled = true;
  const crowd = createCrowd(true);
  const { scene, camera } = createStage(MIDDLE, 'spot');
  const look = (turn: number): Camera => {
    camera.position.set(Math.sin(turn) * 6, 2, Math.cos(turn) * 6);
    camera.lookAt(0, 1, 0);
    camera.updateMatrixWorld();
    return camera;
  };
  for (const turn of [0, 1, 2]) {
    const first = picture(renderer, scene, look(turn), crowd);
    if (turn > 0) expect(changedPixels(first, picture(other, scene, camera, crowd), 0)).toBe(0);
    crowd.setMatrixAt(turn, new Matrix4().makeTranslation(turn, 0, 1));
    crowd.instanceMatrix.needsUpdate = true;
  }
  crowd.dispose();
  other.dispose();
});

test('a crowd of several rows of matrices that moves as a whole, and then in part, is drawn where it has moved to', () => {
  const count = 600;
  const { root, clips } = createCoarseCharacter();
  const { scene, camera } = createStage(MIDDLE, 'directional');
  const create = () => {
    const crowd = SkinnedInstancedMesh.from(root, clips, count, { encoding: 'tracks' });
    // Nine are left.
    crowd.setVisibleAt(crowd.all, false);
    for (let i = 0; i < count; i += 70) crowd.setVisibleAt(i, true);
    return crowd;
  };
  const place = (crowd: SkinnedInstancedMesh, from: number, to: number, along: number) => {
    const matrix = new Matrix4();
    for (let i = from; i < to; i++)
      crowd.setMatrixAt(i, matrix.makeTranslation(i / 100 - 3, 0, i === 0 ? 0 : along));
  };
  const moved = create();
  const expected = create();
  place(moved, 0, count, -1);
  picture(renderer, scene, camera, moved);
  place(moved, 0, count, 1);
  moved.instanceMatrix.needsUpdate = true;
  picture(renderer, scene, camera, moved);
  place(moved, 100, 540, 0);
  moved.instanceMatrix.addUpdateRange(100 * 16, 440 * 16);
  moved.instanceMatrix.needsUpdate = true;
  place(expected, 0, count, 1);
  place(expected, 100, 540, 0);
  const right = picture(renderer, scene, camera, expected);
  expect(changedPixels(right, picture(renderer, scene, camera, new Object3D()))).toBeGreaterThan(1000);
  expect(changedPixels(right, picture(renderer, scene, camera, moved), 0)).toBe(0);
  for (const crowd of [moved, expected]) crowd.dispose();
});

test('whoever comes into view after some time is posed at once, also if posed less often, edited or posed from outside', () => {
  const { scene, camera } = createStage(MIDDLE, 'directional');
  // Its light would see all of them.
  renderer.shadowMap.enabled = false;
  const culled = createCrowd(true);
  const plain = createCrowd(false);
  culled.setPoseRateAt(culled.all, 0.5);
  const look = (turn: number) => {
    camera.position.set(0, 2, Math.cos(turn) * -4);
    camera.rotation.set(0, turn, 0);
    camera.updateMatrixWorld();
  };
  const pose = createCoarseCharacter().root;
  pose.getObjectByName('Head')?.rotateX(1);
  const turned = new Quaternion().setFromAxisAngle(new Vector3(0, 0, 1), 1);
  for (let half = 0; half < 4; half++) {
    look(half * Math.PI);
    const first = picture(renderer, scene, camera, culled);
    expect(changedPixels(picture(renderer, scene, camera, plain), first, 0), `turn ${half}`).toBe(0);
    for (let frame = 0; frame < 3; frame++) {
      for (const crowd of [culled, plain]) crowd.update(0.01);
      picture(renderer, scene, camera, culled);
    }
    // Others go on, and are changed, where nobody looks.
    for (const crowd of [culled, plain]) {
      crowd.update(0.2);
      for (let i = half; i < COUNT; i += 4) crowd.setJointRotationAt(i, 'Head', turned, { mode: 'add' });
      for (let i = half; i < COUNT; i += 9) crowd.setPoseAt(i, pose);
    }
  }
  renderer.shadowMap.enabled = true;
  for (const crowd of [culled, plain]) crowd.dispose();
});
