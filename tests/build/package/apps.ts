import { packed } from './packed.js';

/** The renderer that goes with each entry. */
export const RENDERERS = {
  'skinned-instanced-mesh': `
import { WebGLRenderer } from 'three';
const renderer = new WebGLRenderer({ preserveDrawingBuffer: true });`,
  'skinned-instanced-mesh/webgpu': `
import { WebGPURenderer } from 'three/webgpu';
import { SkinnedInstancedMesh as Same } from 'skinned-instanced-mesh';
if (Same !== SkinnedInstancedMesh) throw new Error('The entries have a class each.');
const renderer = new WebGPURenderer();
await renderer.init();`,
};

const app = (entry: keyof typeof RENDERERS) => `
import { AnimationClip, Bone, BoxGeometry, Float32BufferAttribute, Group, Matrix4, MeshBasicMaterial, PerspectiveCamera,
  Scene, Skeleton, SkinnedMesh, Uint16BufferAttribute, VectorKeyframeTrack } from 'three';
import { bakeCharacter, type BoneTexture, SkinnedInstance, SkinnedInstancedMesh, type PlayOptions } from '${entry}';

const bones = [new Bone(), new Bone()];
bones[1].name = 'Tip';
bones[0].add(bones[1]);
const geometry = new BoxGeometry();
geometry.setAttribute('skinIndex', new Uint16BufferAttribute(new Uint16Array(96).map((_, i) => (i % 4 === 0 ? 1 : 0)), 4));
geometry.setAttribute('skinWeight', new Float32BufferAttribute(new Float32Array(96).map((_, i) => (i % 4 === 0 ? 1 : 0)), 4));
const mesh = new SkinnedMesh(geometry, new MeshBasicMaterial({ color: 0xff0000 }));
const root = new Group().add(bones[0], mesh);
mesh.bind(new Skeleton(bones));
const clip = new AnimationClip('Hop', 1, [new VectorKeyframeTrack('Tip.position', [0, 1], [0, 0, 0, 0, 1, 0])]);

const crowd: SkinnedInstancedMesh = new SkinnedInstancedMesh(bakeCharacter(root, [clip]), 100);
const boneTexture: BoneTexture = crowd.boneTexture;
const options: PlayOptions = { timeScale: 1.1, time: 0.3 };
for (let i = 0; i < 100; i++) {
  crowd.setMatrixAt(i, new Matrix4().makeTranslation((i % 10) * 2 - 9, Math.floor(i / 10) * 2 - 9, 0));
  crowd.play(i, boneTexture.clips[0].name, options);
}
${RENDERERS[entry]}
renderer.setSize(200, 200);
document.body.append(renderer.domElement);
const scene = new Scene().add(crowd);
const object = new SkinnedInstance(crowd);
object.position.set(0, 0, -5);
scene.add(object);
const camera = new PerspectiveCamera(60, 1);
camera.position.z = 20;
crowd.update(0.5);
renderer.render(scene, camera);
const copy = document.createElement('canvas');
copy.width = copy.height = 200;
const context = copy.getContext('2d')!;
context.drawImage(renderer.domElement, 0, 0);
const pixels = context.getImageData(0, 0, 200, 200).data;
document.title = String(pixels.filter((value, i) => i % 4 === 0 && value > 200).length);
`;

const NODES = `
import { varying } from 'three/tsl';
import { MeshBasicNodeMaterial, WebGPURenderer } from 'three/webgpu';
import { SkinnedInstancedMesh, skinnedInstancePosition } from 'skinned-instanced-mesh/webgpu';

export function addTo(renderer: WebGPURenderer, crowd: SkinnedInstancedMesh): SkinnedInstancedMesh {
  const material = new MeshBasicNodeMaterial();
  material.colorNode = varying(skinnedInstancePosition()).y.mul(20).fract();
  crowd.material = material;
  return renderer.initialized ? crowd : new SkinnedInstancedMesh(crowd.geometry, material, crowd.boneTexture, 1);
}
`;

const OBJECTS = `
import type { Bone, Object3D, Scene } from 'three';
import { SkinnedInstance } from 'skinned-instanced-mesh';
import type { SkinnedInstancedMesh } from 'skinned-instanced-mesh';

export function addTo(scene: Scene, crowd: SkinnedInstancedMesh): SkinnedInstance[] {
  const knight: SkinnedInstance = new SkinnedInstance(crowd);
  const object: Object3D = knight;
  scene.add(object, knight.clone());
  knight.addEventListener('finished', ({ instanceId, target }) => console.log(instanceId, target.color));
  knight.addEventListener('finished', ({ action }) => action.crossFadeTo(knight.clipAction('Run'), 0.2, false));
  crowd.addEventListener('finished', ({ action }) => action?.getRoot().setUniform('opacity', 1));
  const bones: Bone[] = knight.bones;
  return bones.length === 0 ? [] : [knight, new SkinnedInstance(crowd)];
}
`;

/** Errors in an app that uses the package, or in the types of the package. */
export function checkApp(resolution: string, files: string[] = []): string[] {
  packed.write('app.ts', app('skinned-instanced-mesh'));
  packed.write('nodes.ts', NODES);
  packed.write('objects.ts', OBJECTS);
  const own = ['app.ts', 'nodes.ts', 'objects.ts', ...files];
  return packed.typeErrors(own, resolution, ['skinned-instanced-mesh', ...own]);
}

/** A page that draws a crowd in each of some materials, of which it says in its title how many drew something. */
export function drawAll(entry: keyof typeof RENDERERS, snippets: string[]): string {
  const imports = new Set(snippets.flatMap((code) => code.match(/^import .*$/gm) ?? []));
  const bodies = snippets.map(
    (code) => `{
    const crowd = new SkinnedInstancedMesh(bakeCharacter(root, [clip]), 100);
    new InstanceUniforms(crowd, { dirt: 'float', swell: 'float' });
    ${code.replace(/^import .*$/gm, '')}
    crowd.material = material;
    place(crowd);
    if ((await draw(crowd)) > 100) drawn++;
  }`,
  );
  return `
${[...imports].join('\n')}
import { MeshStandardMaterial, ShaderMaterial, HemisphereLight } from 'three';
${app(entry)
  .replace('import { bakeCharacter,', 'import { InstanceUniforms, bakeCharacter,')
  .replace(/const crowd: [\s\S]*?\n}\n/, '')
  .replace(/const scene = [\s\S]*/, '')}
void [MeshStandardMaterial, ShaderMaterial];
function place(crowd: SkinnedInstancedMesh) {
  for (let i = 0; i < 100; i++) {
    crowd.setMatrixAt(i, new Matrix4().makeTranslation((i % 10) * 2 - 9, Math.floor(i / 10) * 2 - 9, 0));
    crowd.play(i, 0);
  }
}
const copy = document.createElement('canvas');
copy.width = copy.height = 200;
const context = copy.getContext('2d', { willReadFrequently: true })!;
async function draw(crowd: SkinnedInstancedMesh) {
  const scene = new Scene().add(crowd, new HemisphereLight());
  const camera = new PerspectiveCamera(60, 1);
  camera.position.z = 20;
  crowd.update(0.5);
  renderer.render(scene, camera);
  context.drawImage(renderer.domElement, 0, 0);
  return context.getImageData(0, 0, 200, 200).data.filter((value, i) => i % 4 !== 3 && value > 100).length;
}
let drawn = 0;
${bodies.join('\n')}
if (drawn !== ${snippets.length}) throw new Error(drawn + ' of ${snippets.length} drew something');
document.title = 'done';
`;
}
