import type { BakeCharacterOptions, Influences } from 'skinned-instanced-mesh';

/** What the page sets. */
export interface PageOptions
  extends Pick<BakeCharacterOptions, 'fps' | 'precision' | 'maxTextureSize' | 'skipUnsupported'> {
  encoding?: 'tracks' | 'frames';
  influences?: Influences;
  mergeMaterials?: boolean;
}

/** What the page shows. */
export interface Shown {
  renderer: 'webgl' | 'webgpu';
  /** Name of the file. */
  file: string;
  /** Extensions that the file uses. */
  extensions: readonly string[];
  /** Whether what is baked into it is a vertex texture. */
  vertices?: boolean;
  /** Whether it is frames. */
  frames?: boolean;
  count: number;
  /** Names of the clips that are played, in turn. */
  clips: readonly string[];
  /** Options that are not as they are by default. */
  options: PageOptions;
  /** How high the character is, and how wide with some room around it. */
  height: number;
  width: number;
}

/** The extension of files whose animation is baked. */
const BAKED = 'SIM_baked_animation';

/** What a file needs beyond GLTFLoader itself: its extension, where the decoder comes from, and what to do with it. */
const DECODERS = [
  [
    'EXT_meshopt_compression',
    `import { MeshoptDecoder } from 'three/addons/libs/meshopt_decoder.module.js';`,
    'setMeshoptDecoder(MeshoptDecoder)',
  ],
  [
    BAKED,
    `import { addLevelsOf, bakedCharactersOf, SkinnedInstancedMeshExtension } from 'skinned-instanced-mesh/files';`,
    'register((parser) => new SkinnedInstancedMeshExtension(parser))',
  ],
  [
    'KHR_draco_mesh_compression',
    `import { DRACOLoader } from 'three/addons/loaders/DRACOLoader.js';`,
    'setDRACOLoader(new DRACOLoader())',
  ],
  [
    'KHR_texture_basisu',
    `import { KTX2Loader } from 'three/addons/loaders/KTX2Loader.js';`,
    'setKTX2Loader(new KTX2Loader().detectSupport(renderer))',
  ],
] as const;

const RENDERERS = {
  webgl: {
    three: ['WebGLRenderer'],
    imports: [],
    entry: 'skinned-instanced-mesh',
    make: 'const renderer = new WebGLRenderer({ antialias: true });',
  },
  webgpu: {
    three: [],
    imports: [`import { WebGPURenderer } from 'three/webgpu';`],
    entry: 'skinned-instanced-mesh/webgpu',
    make: 'const renderer = new WebGPURenderer({ antialias: true });\nawait renderer.init();',
  },
};

/** A program that shows what the page shows, as it is: a module, beside which the file lies. */
export function codeFor(shown: Shown): string {
  const { renderer, file, extensions, vertices, frames, count, clips, options, height, width } = shown;
  const { three, imports, entry, make } = RENDERERS[renderer];
  const decoders = DECODERS.filter(([extension]) => extensions.includes(extension));
  const isBaked = extensions.includes(BAKED);
  const { influences, mergeMaterials, ...bake } = options;
  const needs = [
    ...(vertices ? ['vertexTextures: VertexTexture'] : []),
    ...(frames ? ['frames'] : []),
    ...(mergeMaterials ? ['mergeMaterials'] : []),
  ];
  const calls = decoders.map(([name, , call]) =>
    name === BAKED && needs.length > 0
      ? call.replace('(parser))', `(parser, { ${needs.join(', ')} }))`)
      : call,
  );
  const loader = ['new GLTFLoader()', ...calls.map((call) => `.${call}`)].join(
    decoders.length > 1 ? '\n  ' : '',
  );
  const vertexEntry = `skinned-instanced-mesh/vertex-textures${renderer === 'webgpu' ? '/webgpu' : ''}`;
  const ours = [
    isBaked ? 'CrowdLevels' : 'bakeCharacter',
    ...((isBaked ? frames : bake.encoding === 'frames') ? ['frames'] : []),
    ...(mergeMaterials ? ['mergeMaterials'] : []),
    'SkinnedInstancedMesh',
  ];
  const own = [
    `import { ${ours.join(', ')} } from '${entry}';`,
    ...(vertices ? [`import { VertexTexture } from '${vertexEntry}';`] : []),
  ];
  const character = isBaked
    ? 'const [character] = bakedCharactersOf(gltf);'
    : `const character = bakeCharacter(gltf.scene, gltf.animations${given(bake, mergeMaterials)});`;
  const columns = Math.ceil(Math.sqrt(count));
  const depth = columns * width;
  const distance = Math.min(depth, height * 9) + height * 1.6;
  const names = ['Color', 'HemisphereLight', 'Matrix4', 'PerspectiveCamera', 'Scene', 'Timer', ...three];

  return `import { ${names.join(', ')} } from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
${[...decoders.map(([, from]) => from), ...imports, ...own].join('\n')}

${make}
renderer.setSize(innerWidth, innerHeight);
document.body.append(renderer.domElement);

const scene = new Scene();
scene.background = new Color(0xb9c7d3);
scene.add(new HemisphereLight(0xffffff, 0x888888, 3));
const camera = new PerspectiveCamera(45, innerWidth / innerHeight, ${short(height / 20)}, ${short(depth * 2 + height * 60)});
camera.position.set(0, ${short(height * 0.9 + distance * 0.3)}, ${short(distance)});
camera.lookAt(0, ${short(height / 2)}, 0);

const loader = ${loader};
const gltf = await loader.loadAsync(${quoted(encodeURIComponent(file))});
${character}
const crowd = new SkinnedInstancedMesh(character, ${count}${influences === undefined ? '' : `, { influences: ${influences} }`});
${isBaked ? 'addLevelsOf(character, new CrowdLevels(crowd));\n' : ''}scene.add(crowd);

const matrix = new Matrix4();
for (let i = 0; i < crowd.count; i++) {
  const column = (i % ${columns}) - ${(columns - 1) / 2};
  crowd.setMatrixAt(i, matrix.makeTranslation(column * ${short(width)}, 0, -Math.floor(i / ${columns}) * ${short(width)}));
}
${playing(clips)}
const timer = new Timer();
renderer.setAnimationLoop(() => {
  timer.update();
  crowd.update(timer.getDelta());
  renderer.render(scene, camera);
});
`;
}

/** A number in three digits. */
const short = (value: number) => String(Number(value.toPrecision(3)));

/** A string as one writes it. */
const quoted = (text: string) =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;

function given(options: object, merges = false): string {
  const lines = Object.entries(options).map(
    ([key, value]) =>
      `  ${key}: ${typeof value === 'string' && key !== 'encoding' ? quoted(value) : value},\n`,
  );
  if (merges) lines.push('  mergeMaterials: mergeMaterials(),\n');
  return lines.length > 0 ? `, {\n${lines.join('')}}` : '';
}

function playing(clips: readonly string[]): string {
  const options = '{ time: () => 10 * Math.random() }';
  if (clips.length === 0) return '';
  if (clips.length === 1) return `crowd.playAll(${quoted(clips[0])}, ${options});\n`;
  const list = clips.map((name) => `  ${quoted(name)},\n`).join('');
  return `const clips = [\n${list}];\ncrowd.playAll((i) => clips[i % clips.length], ${options});\n`;
}
