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
  type Object3D,
  PCFShadowMap,
  ShaderChunk,
  ShaderMaterial,
  type SkinnedMesh,
  UniformsUtils,
  VSMShadowMap,
  WebGLRenderer,
} from 'three';
import { afterAll, beforeAll, test } from 'vitest';
import { BUILT_IN, describeCharacters, loadCharacter } from '../support/characters.js';
import { expectSamePicture } from '../support/expectSamePicture.js';
import { createPair, createShadowPair, type Pair, useMaterial } from '../support/pair.js';
import { createStage, forEachMaterial, type LightKind, picture } from '../support/pictures.js';
import { bumps, stripes } from '../support/textures.js';

/**
 * Share of the pixels that a character covers, with its shadow, that may differ. Measured: none for most, 5 of 7,203 for
 * the knight, whose shields lie one in another.
 */
const BOUND = 0.0015;

let renderer: WebGLRenderer;
beforeAll(() => {
  renderer = new WebGLRenderer();
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = PCFShadowMap;
});
afterAll(() => renderer.dispose());

/** Compares a character, or its shadow alone, with three.js's. */
function compare(label: string, { reference, crowd, bounds }: Pair, light: LightKind, shadowOnly = false) {
  const { scene, camera } = createStage(bounds, light);
  for (const object of [reference.root, crowd]) {
    forEachMaterial(object, (material) => {
      material.colorWrite = material.depthWrite = !shadowOnly;
    });
  }
  const draw = (object: Object3D) => picture(renderer, scene, camera, object);
  expectSamePicture(
    `${label}, ${light}${shadowOnly ? ', shadow alone' : ''}`,
    draw(reference.root),
    draw(crowd),
    draw(new Group()),
    BOUND,
  );
}

describeCharacters((name) => {
  test('looks as three.js draws it, under every light, with its shadow', async () => {
    const model = await loadCharacter(name);
    for (let i = 0; i < Math.min(4, model.clips.length); i++) {
      const clip = Math.floor((i * model.clips.length) / 4) % model.clips.length;
      const pair = createPair(model, clip, 0.35 + 0.1 * i);
      for (const light of ['directional', 'spot', 'point'] as const) {
        compare(`${name} ${model.clips[clip].name}`, pair, light);
        compare(`${name} ${model.clips[clip].name}`, pair, light, true);
      }
      pair.crowd.dispose();
    }
  });
});

test('encoding tracks looks as three.js draws it between frames, with its shadow', async () => {
  const model = await loadCharacter(BUILT_IN);
  const pair = createPair(model, 2, 0.317, new Matrix4().makeRotationY(0.7), 'tracks');
  for (const light of ['directional', 'spot', 'point'] as const) {
    compare('tracks', pair, light);
    compare('tracks', pair, light, true);
  }
  // One material, another clip, another palette.
  const other = createPair(model, 1, 0.6, new Matrix4(), 'tracks');
  compare('tracks, another crowd', other, 'directional');
  compare('tracks, the first again', pair, 'directional');
  // The same material for a crowd that is posed vertex by vertex.
  compare('matrices beside tracks', createPair(model, 1, 0.6), 'directional');
  compare('tracks beside matrices', pair, 'directional');
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

test.each(Object.keys(materials))('material: %s', async (name) => {
  const model = await loadCharacter(BUILT_IN);
  model.root.traverse((node) => {
    const mesh = node as SkinnedMesh;
    if (mesh.isSkinnedMesh && name.includes('tangents')) mesh.geometry.computeTangents();
  });
  const pair = createPair(model, 2, 0.3);
  useMaterial(pair, materials[name]);
  for (const light of ['directional', 'point'] as const) compare(name, pair, light);
  pair.crowd.dispose();
});

test('VSM shadows', async () => {
  renderer.shadowMap.type = VSMShadowMap;
  const pair = createPair(await loadCharacter(BUILT_IN), 1, 0.6);
  for (const light of ['directional', 'spot'] as const) compare('VSM', pair, light);
  renderer.shadowMap.type = PCFShadowMap;
});

test('a crowd under a moved and turned parent with placed instances', async () => {
  const model = await loadCharacter(BUILT_IN);
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
  const empty = picture(renderer, scene, camera, new Group());
  expectSamePicture('under a parent', expected, drawn, empty, BOUND);
});

test.each([1, 2] as const)(
  'shadowInfluences %i: the shadow of a SkinnedMesh whose vertices follow as many joints, and no other change',
  async (shadowInfluences) => {
    const pair = await createShadowPair(shadowInfluences);
    compare(`shadowInfluences ${shadowInfluences}`, pair.shadow, 'directional', true);
    pair.lit.crowd.castShadow = false;
    for (const mesh of pair.lit.reference.meshes) mesh.castShadow = false;
    compare(`shadowInfluences ${shadowInfluences}, no shadow`, pair.lit, 'directional');
  },
);
