import {
  Group,
  type Material,
  Matrix4,
  MeshBasicMaterial,
  MeshDepthMaterial,
  MeshLambertMaterial,
  MeshMatcapMaterial,
  MeshNormalMaterial,
  MeshPhongMaterial,
  MeshPhysicalMaterial,
  MeshStandardMaterial,
  MeshToonMaterial,
  PCFShadowMap,
  ShaderChunk,
  ShaderMaterial,
  type SkinnedMesh,
  UniformsUtils,
  VSMShadowMap,
  WebGLRenderer,
} from 'three';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { LoopOnceOptions, SkinnedInstancedMesh } from '../support/library.js';
import { loadModel, type Model, modelNames } from '../support/models.js';
import { createPair, type Pair, useMaterial } from '../support/pair.js';
import {
  changedPixels,
  createStage,
  forEachMaterial,
  type LightKind,
  picture,
  sameShare,
} from '../support/pictures.js';
import { bumps, stripes } from '../support/textures.js';

const BOUND = 0.995;

let renderer: WebGLRenderer;
beforeAll(() => {
  renderer = new WebGLRenderer();
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = PCFShadowMap;
});
afterAll(() => renderer.dispose());

function compare({ reference, crowd, bounds }: Pair, light: LightKind, shadowOnly = false) {
  const { scene, camera } = createStage(bounds, light);
  if (shadowOnly) {
    for (const object of [reference.root, crowd]) {
      forEachMaterial(object, (material) => {
        material.colorWrite = false;
        material.depthWrite = false;
      });
    }
  }
  const expected = picture(renderer, scene, camera, reference.root);
  const drawn = picture(renderer, scene, camera, crowd);
  const empty = picture(renderer, scene, camera, new Group());
  expect(changedPixels(expected, empty), 'the reference shows something').toBeGreaterThan(300);
  return sameShare(expected, drawn);
}

const builtIn = (): Model => ({ name: 'built-in', ...createCharacter() });
const models = await modelNames();

describe.each(['built-in', ...models])('%s', (name) => {
  test.each(['directional', 'spot', 'point'] as const)(
    'looks as three.js draws it, %s light',
    async (light) => {
      const model = name === 'built-in' ? builtIn() : await loadModel(name);
      for (let i = 0; i < Math.min(4, model.clips.length); i++) {
        const clip = Math.floor((i * model.clips.length) / 4) % model.clips.length;
        const pair = createPair(model, clip, 0.35 + 0.1 * i);
        const lit = compare(pair, light);
        const shadow = compare(pair, light, true);
        console.log(
          `${name} ${model.clips[clip].name} ${light}: ${(lit * 100).toFixed(2)} %, shadow alone ${(shadow * 100).toFixed(2)} %`,
        );
        forEachMaterial(model.root, (material) => {
          material.colorWrite = true;
          material.depthWrite = true;
        });
        expect(lit).toBeGreaterThanOrEqual(BOUND);
        expect(shadow).toBeGreaterThanOrEqual(BOUND);
        pair.crowd.dispose();
      }
    },
    120_000,
  );
});

const chunked = () =>
  new ShaderMaterial({
    uniforms: UniformsUtils.clone({}),
    vertexShader: `
      ${ShaderChunk.common}
      #include <skinning_pars_vertex>
      varying vec3 vN;
      void main() {
        #include <beginnormal_vertex>
        #include <skinbase_vertex>
        #include <skinnormal_vertex>
        #include <defaultnormal_vertex>
        #include <begin_vertex>
        #include <skinning_vertex>
        #include <project_vertex>
        vN = normalize( transformedNormal );
      }`,
    fragmentShader: 'varying vec3 vN;\nvoid main() { gl_FragColor = vec4( vN * 0.5 + 0.5, 1.0 ); }',
  });

const materials: Record<string, () => Material> = {
  Standard: () => new MeshStandardMaterial({ color: 0xcc8844, roughness: 0.4 }),
  Physical: () => new MeshPhysicalMaterial({ color: 0x4488cc, clearcoat: 1, sheen: 1 }),
  Lambert: () => new MeshLambertMaterial({ color: 0x88cc44 }),
  Phong: () => new MeshPhongMaterial({ color: 0xaa5577, shininess: 60 }),
  Toon: () => new MeshToonMaterial({ color: 0x55aa77 }),
  Matcap: () => new MeshMatcapMaterial({ color: 0xffddaa }),
  Normal: () => new MeshNormalMaterial(),
  Basic: () => new MeshBasicMaterial({ vertexColors: true }),
  Depth: () => new MeshDepthMaterial(),
  'flat shading': () => new MeshStandardMaterial({ flatShading: true }),
  wireframe: () => new MeshBasicMaterial({ wireframe: true, color: 0xffffff }),
  'normal map with tangents': () => new MeshStandardMaterial({ normalMap: bumps(), color: 0xbbbbbb }),
  'displacement map': () =>
    new MeshStandardMaterial({ displacementMap: bumps(), displacementScale: 0.04, color: 0xbbbbbb }),
  'alpha map and alphaTest': () => new MeshStandardMaterial({ alphaMap: stripes(), alphaTest: 0.5 }),
  'map and alphaTest': () => new MeshLambertMaterial({ map: stripes(), alphaTest: 0.1, alphaHash: false }),
  'ShaderMaterial with chunks': chunked,
};

test.each(Object.keys(materials))('material: %s', (name) => {
  const model = builtIn();
  model.root.traverse((node) => {
    const mesh = node as SkinnedMesh;
    if (mesh.isSkinnedMesh && name.includes('tangents')) mesh.geometry.computeTangents();
  });
  const pair = createPair(model, 2, 0.3);
  useMaterial(pair, materials[name]);
  for (const light of ['directional', 'point'] as const) {
    const share = compare(pair, light);
    expect(share, light).toBeGreaterThanOrEqual(BOUND);
  }
  pair.crowd.dispose();
});

test('VSM shadows', () => {
  renderer.shadowMap.type = VSMShadowMap;
  const pair = createPair(builtIn(), 1, 0.6);
  for (const light of ['directional', 'spot'] as const) {
    expect(compare(pair, light), light).toBeGreaterThanOrEqual(BOUND);
  }
  renderer.shadowMap.type = PCFShadowMap;
});

test('a crowd under a moved and turned parent with placed instances', () => {
  const model = builtIn();
  const matrix = new Matrix4().makeRotationY(1).setPosition(0.4, 0, 0.3);
  const pair = createPair(model, 2, 0.5, matrix);
  const parents = [new Group(), new Group()];
  parents.forEach((parent, i) => {
    parent.position.set(0.2, 0.1, -0.3);
    parent.rotation.set(0.2, 0.5, 0.1);
    parent.add(i === 0 ? pair.reference.root : pair.crowd);
  });
  const { scene, camera } = createStage(pair.bounds, 'directional');
  const expected = picture(renderer, scene, camera, parents[0]);
  const drawn = picture(renderer, scene, camera, parents[1]);
  expect(sameShare(expected, drawn)).toBeGreaterThanOrEqual(BOUND);
});

test('fewer influences in shadows change only the shadow', () => {
  const model = builtIn();
  const pair = createPair(model, 2, 0.5);
  const light = new SkinnedInstancedMesh(
    pair.crowd.geometry,
    pair.crowd.material,
    pair.crowd.boneTexture,
    1,
    { shadowInfluences: 1 },
  );
  light.castShadow = true;
  light.receiveShadow = false;
  pair.crowd.receiveShadow = false;
  light.play(0, 2, { ...LoopOnceOptions, time: 0.5 * model.clips[2].duration });
  pair.crowd.play(0, 2, { ...LoopOnceOptions, time: 0.5 * model.clips[2].duration });
  const { scene, camera } = createStage(pair.bounds, 'directional');
  const full = picture(renderer, scene, camera, pair.crowd);
  const fewer = picture(renderer, scene, camera, light);
  expect(sameShare(full, fewer)).toBeGreaterThan(0.98);
  expect(sameShare(full, fewer, 0)).toBeLessThan(1);
});
