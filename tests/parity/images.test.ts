import {
  BackSide,
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
} from 'three';
import { describe, test } from 'vitest';
import { TWINS, type Twin } from '../support/captures.js';
import { BUILT_IN, COARSE, describeCharacters, loadCharacter } from '../support/characters.js';
import { comparePair, expectSameDrawn, type Seen } from '../support/comparePair.js';
import { disposeLater } from '../support/disposeLater.js';
import { useDrawing } from '../support/drawings.js';
import { createPair, createShadowPair, type Pair, useMaterial } from '../support/pair.js';
import { createStage, type LightKind } from '../support/pictures.js';
import { bumps, stripes } from '../support/textures.js';
import { THOROUGH } from '../support/thorough.js';

const EVERY_LIGHT: readonly LightKind[] = ['directional', 'spot', 'point'];

interface Extent {
  /** How many clips of each character, and what part of the first of them has passed. */
  clips: number;
  share: number;
  /** How far around the character is turned. */
  turned: number;
  lights(name: string): readonly LightKind[];
}

/** Real characters are under one light where not everything is tested; spots have the shadow maps of suns. */
const lightsFor = (name: string) =>
  name === BUILT_IN
    ? EVERY_LIGHT
    : THOROUGH
      ? (['directional', 'point'] as const)
      : (['directional'] as const);

/** What is drawn with each. Both backends of WebGPURenderer run the same nodes: all of it is for the first. */
const EXTENTS: Record<Twin, Extent> = {
  GLSL: { clips: THOROUGH ? 3 : 2, share: 0.35, turned: 0, lights: lightsFor },
  'TSL on WebGPU': { clips: 1, share: 0.4, turned: 0.7, lights: lightsFor },
  'TSL on WebGL 2': {
    clips: 1,
    share: 0.4,
    turned: 0.7,
    lights: (name) => (THOROUGH && name === BUILT_IN ? EVERY_LIGHT : ['directional']),
  },
};

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

const MATERIALS: Record<string, () => Material> = {
  Standard: () => new MeshStandardMaterial({ color: 0xcc8844, roughness: 0.4 }),
  Physical: () => new MeshPhysicalMaterial({ color: 0x4488cc, clearcoat: 1, sheen: 1 }),
  Lambert: () => new MeshLambertMaterial({ color: 0x88cc44 }),
  Phong: () => new MeshPhongMaterial({ color: 0xaa5577, shininess: 60 }),
  Toon: () => new MeshToonMaterial({ color: 0x55aa77 }),
  Matcap: () => new MeshMatcapMaterial({ color: 0xffddaa }),
  Normal: () => new MeshNormalMaterial(),
  'Basic with vertex colours': () => new MeshBasicMaterial({ vertexColors: true }),
  'flat shading': () => new MeshStandardMaterial({ flatShading: true }),
  'normal map with tangents': () => new MeshStandardMaterial({ normalMap: bumps(), color: 0xbbbbbb }),
  'displacement map': () =>
    new MeshStandardMaterial({ displacementMap: bumps(), displacementScale: 0.04, color: 0xbbbbbb }),
  wireframe: () => new MeshBasicMaterial({ wireframe: true, color: 0xffffff }),
  'alpha map and alphaTest': () => new MeshStandardMaterial({ alphaMap: stripes(), alphaTest: 0.5 }),
};

/** Projects by itself, as MToonMaterial of three-vrm and `OutlineEffect` do for outlines. */
const outline = () => {
  const material = chunked();
  material.side = BackSide;
  material.vertexShader = material.vertexShader.replace(
    /}$/,
    `vec4 further = projectionMatrix * modelViewMatrix * vec4( normalize( objectNormal ) + transformed, 1.0 );
    gl_Position = projectionMatrix * modelViewMatrix * vec4( transformed, 1.0 );
    gl_Position += 0.01 * normalize( further - gl_Position ) * gl_Position.w;\n}`,
  );
  return material;
};

/** Those that node materials have no counterpart of, or that differ from others in fragments alone. */
const GLSL_MATERIALS: Record<string, () => Material> = {
  Depth: () => new MeshDepthMaterial(),
  'map and alphaTest': () => new MeshLambertMaterial({ map: stripes(), alphaTest: 0.1, alphaHash: false }),
  'ShaderMaterial with chunks': chunked,
  'outline that a shader projects itself': outline,
};

/** Names of those that change the shadow too: these are under a point light even where not everything is tested. */
const SHADOWED = /alphaTest|displacement/;

/** Names of those with a vertex shader of their own: others are drawn where everything is tested. */
const IN_GLSL = /Standard|Physical|Toon|alphaTest|displacement|tangents|wireframe|chunks|outline/;

/** Names of those in which node materials differ by more than how they are lit: others are drawn where everything is tested. */
const ALSO_IN_NODES = /Standard|alphaTest|displacement|tangents|wireframe/;

describe.each(TWINS)('%s', (twin) => {
  const extent = EXTENTS[twin];
  const drawing = useDrawing(twin);

  const compare = (label: string, pair: Pair, light: LightKind, ...seen: Seen[]) =>
    comparePair(drawing, `${label}, ${twin}`, pair, light, ...seen);

  describeCharacters((name) => {
    test('looks as three.js draws it, with its shadow', async () => {
      const model = await loadCharacter(name);
      const { length } = model.clips;
      const count = Math.min(extent.clips, length);
      const place = new Matrix4().makeRotationY(extent.turned);
      for (let i = 0; i < count; i++) {
        const clip = count === 1 ? Math.floor(length / 2) : Math.floor((i * length) / extent.clips) % length;
        // The first by the encoding that is chosen by default, the next one by skinning matrices
        const texels = i === 1 ? 'frames' : 'tracks';
        const pair = createPair(model, clip, extent.share + 0.1 * i, place, texels);
        // Lights are none of the clip's business.
        for (const light of i === 0 ? extent.lights(name) : (['directional'] as const)) {
          await compare(`${name} ${model.clips[clip].name}`, pair, light, 'all', 'shadow alone');
        }
        disposeLater(pair.crowd);
      }
    });
  }, twin);

  const materials = twin === 'GLSL' ? { ...MATERIALS, ...GLSL_MATERIALS } : MATERIALS;
  const few = twin === 'GLSL' ? IN_GLSL : ALSO_IN_NODES;
  const drawn = Object.entries(materials).filter(([name]) => THOROUGH || few.test(name));
  test.each(drawn)('material: %s', async (name, create) => {
    const model = await loadCharacter(COARSE);
    for (const mesh of model.root.getObjectsByProperty('isSkinnedMesh', true) as SkinnedMesh[])
      if (name.includes('tangents')) mesh.geometry.computeTangents();
    const pair = createPair(model, 2, 0.3, new Matrix4().makeRotationY(0.8).setPosition(0.2, 0, 0));
    useMaterial(pair, create);
    await compare(name, pair, 'directional');
    if (twin === 'GLSL' && (THOROUGH || SHADOWED.test(name))) await compare(name, pair, 'point');
    disposeLater(pair.crowd);
  });

  test('VSM shadows', async () => {
    drawing.renderer.shadowMap.type = VSMShadowMap;
    const pair = createPair(await loadCharacter(COARSE), 1, 0.6);
    await compare('VSM', pair, 'directional');
    if (twin === 'GLSL' && THOROUGH) await compare('VSM', pair, 'spot');
    drawing.renderer.shadowMap.type = PCFShadowMap;
  });

  const scaled = () => new Matrix4().makeScale(1, 1.4, 0.6);
  const placed: [string, Matrix4][] = [
    ['turned', new Matrix4()],
    ['scaled unevenly', scaled()],
    // As objects in a group that is scaled are.
    ['sheared', scaled().multiply(new Matrix4().makeRotationZ(0.6))],
  ];
  test.each(placed)('a crowd under a moved, turned parent with instances that are %s', async (_, scale) => {
    const model = await loadCharacter(BUILT_IN);
    const matrix = new Matrix4().makeRotationY(1).multiply(scale).setPosition(0.4, 0, 0.3);
    const pair = createPair(model, 2, 0.5, matrix);
    const [expected, drawn] = [pair.reference.root, pair.crowd].map((object) => {
      const parent = new Group();
      parent.position.set(0.2, 0.1, -0.3);
      parent.rotation.set(0.2, 0.5, 0.1);
      return parent.add(object);
    });
    const stage = createStage(pair.bounds);
    await expectSameDrawn(`under a parent, ${twin}`, drawing.draw, stage, expected, drawn);
  });

  const influences = [
    [1, 'frames'],
    [2, 'tracks'],
    [2, 'frames'],
    [1, 'tracks'],
  ] as const;
  test.each(THOROUGH ? influences : influences.slice(0, 2))(
    'shadowInfluences %i, encoding %s: the shadow of a SkinnedMesh whose vertices follow as many joints, and no other change',
    async (shadowInfluences, encoding) => {
      const pair = await createShadowPair(shadowInfluences, encoding);
      await compare(`shadowInfluences ${shadowInfluences}`, pair.shadow, 'directional', 'shadow alone');
      pair.lit.crowd.castShadow = false;
      for (const mesh of pair.lit.reference.meshes) mesh.castShadow = false;
      await compare(`shadowInfluences ${shadowInfluences}, no shadow`, pair.lit, 'directional');
    },
  );
});
