import {
  type Box3,
  Color,
  Group,
  InstancedMesh,
  type Material,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  MeshLambertMaterial,
  MeshMatcapMaterial,
  MeshNormalMaterial,
  MeshPhongMaterial,
  MeshPhysicalMaterial,
  MeshStandardMaterial,
  MeshToonMaterial,
  PCFShadowMap,
  type SkinnedMesh,
  SphereGeometry,
  VSMShadowMap,
} from 'three';
import { attribute, color, normalView, positionLocal, sin, vec3 } from 'three/tsl';
import { MeshStandardNodeMaterial, WebGPURenderer } from 'three/webgpu';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { BoneTexture, LoopOnceOptions, SkinnedInstancedMesh } from '../support/library.js';
import { loadModel, type Model, modelNames } from '../support/models.js';
import { createPair, type Pair, useMaterial } from '../support/pair.js';
import {
  changedPixels,
  createStage,
  forEachMaterial,
  type LightKind,
  sameShare,
} from '../support/pictures.js';
import { pictureNodes } from '../support/picturesNodes.js';
import { bumps, stripes } from '../support/textures.js';

const BOUND = 0.995;
const models = await modelNames();
const builtIn = (): Model => ({ name: 'built-in', ...createCharacter() });

const materials: Record<string, () => Material> = {
  Standard: () => new MeshStandardMaterial({ color: 0xcc8844, roughness: 0.4 }),
  Physical: () => new MeshPhysicalMaterial({ color: 0x4488cc, clearcoat: 1 }),
  Lambert: () => new MeshLambertMaterial({ color: 0x88cc44 }),
  Phong: () => new MeshPhongMaterial({ color: 0xaa5577, shininess: 60 }),
  Toon: () => new MeshToonMaterial({ color: 0x55aa77 }),
  Matcap: () => new MeshMatcapMaterial({ color: 0xffddaa }),
  Normal: () => new MeshNormalMaterial(),
  'vertex colours': () => new MeshBasicMaterial({ vertexColors: true }),
  'flat shading': () => new MeshStandardMaterial({ flatShading: true }),
  'normal map with tangents': () => new MeshStandardMaterial({ normalMap: bumps(), color: 0xbbbbbb }),
  'displacement map': () =>
    new MeshStandardMaterial({ displacementMap: bumps(), displacementScale: 0.04, color: 0xbbbbbb }),
  'alpha map and alphaTest': () => new MeshStandardMaterial({ alphaMap: stripes(), alphaTest: 0.5 }),
  'node material with colorNode': () => {
    const material = new MeshStandardNodeMaterial();
    material.colorNode = color(0x66aaff).mul(normalView.y.mul(0.5).add(0.5));
    return material;
  },
  positionNode: () => {
    const material = new MeshStandardNodeMaterial({ color: 0xddaa55 });
    const height = attribute<'vec3'>('position', 'vec3').y;
    material.positionNode = positionLocal.add(vec3(sin(height.mul(9)).mul(0.06), 0, 0));
    return material;
  },
  castShadowPositionNode: () => {
    const material = new MeshStandardNodeMaterial({ color: 0xddaa55 });
    material.castShadowPositionNode = positionLocal.add(vec3(0.2, 0, 0));
    return material;
  },
};

describe.each(['WebGPU', 'WebGL 2'])('WebGPURenderer on %s', (backend) => {
  let renderer: WebGPURenderer;
  beforeAll(async () => {
    renderer = new WebGPURenderer({ forceWebGL: backend === 'WebGL 2' });
    await renderer.init();
    renderer.shadowMap.enabled = true;
    renderer.shadowMap.type = PCFShadowMap;
  });
  afterAll(() => renderer.dispose());

  async function compare({ reference, crowd, bounds }: Pair, light: LightKind, shadowOnly = false) {
    const { scene, camera } = createStage(bounds, light);
    if (shadowOnly) {
      for (const object of [reference.root, crowd]) {
        forEachMaterial(object, (material) => {
          material.colorWrite = false;
          material.depthWrite = false;
        });
      }
    }
    const expected = await pictureNodes(renderer, scene, camera, reference.root);
    const drawn = await pictureNodes(renderer, scene, camera, crowd);
    const empty = await pictureNodes(renderer, scene, camera, new Group());
    expect(changedPixels(expected, empty), 'the reference shows something').toBeGreaterThan(300);
    return sameShare(expected, drawn);
  }

  test.each(['built-in', ...models])('%s looks as three.js draws it, with its shadow', async (name) => {
    // The other backend runs the same nodes: real models under every light are for the first.
    const all = backend === 'WebGPU' || name === 'built-in';
    for (const light of all ? (['directional', 'spot', 'point'] as const) : (['directional'] as const)) {
      const model = name === 'built-in' ? builtIn() : await loadModel(name);
      const clip = Math.floor(model.clips.length / 2);
      const turned = new Matrix4().makeRotationY(0.7);
      const lit = await compare(createPair(model, clip, 0.4, turned), light);
      const shadow = await compare(createPair(model, clip, 0.4, turned), light, true);
      console.log(
        `${name} ${backend} ${light}: ${(lit * 100).toFixed(2)} %, shadow alone ${(shadow * 100).toFixed(2)} %`,
      );
      expect(lit, light).toBeGreaterThanOrEqual(BOUND);
      expect(shadow, `${light}, shadow alone`).toBeGreaterThanOrEqual(BOUND);
    }
  });

  test.each(Object.keys(materials))('material: %s', async (name) => {
    const model = builtIn();
    model.root.traverse((node) => {
      const mesh = node as SkinnedMesh;
      if (mesh.isSkinnedMesh && name.includes('tangents')) mesh.geometry.computeTangents();
    });
    const pair = createPair(model, 2, 0.3, new Matrix4().makeRotationY(0.8).setPosition(0.2, 0, 0));
    useMaterial(pair, materials[name]);
    expect(await compare(pair, 'directional')).toBeGreaterThanOrEqual(BOUND);
  });

  test('VSM shadows', async () => {
    renderer.shadowMap.type = VSMShadowMap;
    expect(await compare(createPair(builtIn(), 1, 0.6), 'directional')).toBeGreaterThanOrEqual(BOUND);
    renderer.shadowMap.type = PCFShadowMap;
  });

  test('scene.overrideMaterial poses the crowd', async () => {
    const { reference, crowd, bounds } = createPair(builtIn(), 2, 0.4);
    const { scene, camera } = createStage(bounds, 'directional');
    scene.overrideMaterial = new MeshNormalMaterial();
    const expected = await pictureNodes(renderer, scene, camera, reference.root);
    expect(sameShare(expected, await pictureNodes(renderer, scene, camera, crowd))).toBeGreaterThanOrEqual(
      BOUND,
    );
  });

  test('instance colours', async () => {
    const pair = createPair(builtIn(), 2, 0.3);
    const tint = new Color(0.9, 0.3, 0.2);
    const material = () => new MeshStandardMaterial({ color: 0xffffff });
    useMaterial(pair, material);
    for (const mesh of pair.reference.meshes) (mesh.material as MeshStandardMaterial).color.copy(tint);
    pair.crowd.setColorAt(0, tint);
    expect(await compare(pair, 'directional')).toBeGreaterThanOrEqual(BOUND);
  });

  test('one material on crowds of other textures and variants, and on plain meshes', async () => {
    const { root, clips } = createCharacter();
    const { geometry } = root.getObjectByProperty('isSkinnedMesh', true) as SkinnedMesh;
    const shared = new MeshStandardMaterial({ color: 0xcc9966 });
    const at = (x: number) => new Matrix4().makeTranslation(x, 0, 0);
    const build = (one: () => Material) => {
      const crowds = [
        { options: { encoding: 'matrix', fps: 60 }, clip: 'Run', time: 0.2, x: -1 },
        { options: { encoding: 'quaternion', fps: 60 }, clip: 'Wave', time: 0.5, x: 0 },
        {
          options: { encoding: 'quaternion', precision: 'half', clips: ['Walk'] },
          clip: 'Walk',
          time: 0.25,
          x: 1,
        },
      ] as const;
      const group = new Group();
      for (const { options, clip, time, x } of crowds) {
        const texture = BoneTexture.bake(root, clips, options);
        const crowd = new SkinnedInstancedMesh(geometry, one(), texture, 1);
        crowd.setMatrixAt(0, at(x));
        crowd.play(0, clip, { ...LoopOnceOptions, time });
        group.add(crowd);
      }
      const instanced = new InstancedMesh(new SphereGeometry(0.3), one(), 1);
      instanced.setMatrixAt(0, at(0.5));
      const plain = new Mesh(new SphereGeometry(0.2), one());
      plain.position.set(-0.5, 1.5, 0);
      group.add(instanced, plain);
      return group;
    };
    const { scene, camera } = createStage(createPair(builtIn(), 2, 0.4).bounds, 'directional');
    const apart = await pictureNodes(
      renderer,
      scene,
      camera,
      build(() => shared.clone()),
    );
    const together = await pictureNodes(
      renderer,
      scene,
      camera,
      build(() => shared),
    );
    expect(sameShare(apart, together)).toBeGreaterThanOrEqual(BOUND);
  });

  describe.each([MeshStandardMaterial, MeshStandardNodeMaterial])('changed at run time, %o', (Class) => {
    const make = (fps: number, interpolate = true) => {
      const { root, clips } = createCharacter();
      const crowd = SkinnedInstancedMesh.from(root, clips, 1, { fps, interpolate });
      crowd.material = new Class();
      crowd.play(0, 'Run', { time: 0.31 });
      crowd.computeBoundingBox();
      return crowd;
    };
    const stageOf = (crowd: SkinnedInstancedMesh) => createStage(crowd.boundingBox as Box3, 'directional');

    test('interpolate and colour', async () => {
      const crowd = make(4);
      const { scene, camera } = stageOf(crowd);
      const draw = (object: SkinnedInstancedMesh) => pictureNodes(renderer, scene, camera, object);
      const mixed = await draw(crowd);
      crowd.interpolate = false;
      const snapped = await draw(crowd);
      expect(sameShare(mixed, snapped, 3), 'interpolate').toBeLessThan(0.999);
      expect(sameShare(await draw(make(4, false)), snapped)).toBeGreaterThanOrEqual(BOUND);
      const material = crowd.material as MeshStandardMaterial;
      material.color.set(0xff0000);
      material.needsUpdate = true;
      expect(sameShare(snapped, await draw(crowd), 3), 'colour').toBeLessThan(0.999);
    });

    test('bone texture', async () => {
      const crowd = make(4);
      const { scene, camera } = stageOf(crowd);
      const draw = (object: SkinnedInstancedMesh) => pictureNodes(renderer, scene, camera, object);
      await draw(crowd);
      const finer = make(60);
      crowd.boneTexture = finer.boneTexture;
      crowd.play(0, 'Run', { time: 0.31 });
      const swapped = await draw(crowd);
      expect(sameShare(swapped, await draw(finer))).toBeGreaterThanOrEqual(BOUND);
    });
  });
});
