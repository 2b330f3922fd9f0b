import { expect, test } from 'vitest';
import { ROOT } from '../../support/PackedApp.js';
import { RENDERERS } from './apps.js';
import { packed } from './packed.js';

/** A page that draws crowds of many features, and says in its title what it has drawn. */
const pageOf = (entry: keyof typeof RENDERERS) => `
import * as THREE from 'three';
import * as crowds from '${entry}';
import { bakeVertexCharacter } from 'skinned-instanced-mesh/vertex-textures${entry.slice(22)}';
import { createCoarseCharacter } from '${ROOT}/tests/support/coarseCharacter.ts';
import { createEverything } from '${ROOT}/tests/support/everything.ts';
import { createTall } from '${ROOT}/tests/support/tallBody.ts';
const [{ SkinnedInstancedMesh }, { Color, Matrix4, Vector3 }] = [crowds, THREE];
${RENDERERS[entry]}
renderer.setSize(256, 192);
renderer.shadowMap.enabled = true;
document.body.append(renderer.domElement);
const scene = new THREE.Scene();
const ground = new THREE.Mesh(new THREE.BoxGeometry(20, 0.1, 20), new THREE.MeshStandardMaterial());
for (const one of [ground, new THREE.DirectionalLight(), new THREE.PointLight(0xffffff, 40)]) {
  one.castShadow = one.receiveShadow = true;
  scene.add(one);
  if (one.isLight) one.position.set(2, 6, 5);
}
const camera = new THREE.PerspectiveCamera(40, 4 / 3, 0.1, 50);
camera.position.set(0, 5, 9);
camera.rotateX(-0.5);

const rise = crowds.defineMotion({
  name: 'rise',
  glsl: 'position.y += 0.2 * random + 0.02 * sin( time + color.r );',
  tsl: ({ position, random, time, color, vec3 }) =>
    position.add(vec3(0, random.mul(0.2).add(time.add(color.x).sin().mul(0.02)), 0)),
  maxOffset: 0.3,
});
const { root, clips } = createCoarseCharacter();
const all = createEverything();
const characters = [
  crowds.bakeCharacter(root, clips),
  crowds.bakeCharacter(all.root, all.clips, { mergeMaterials: crowds.mergeMaterials(), precision: 'half' }),
  crowds.bakeCharacter(all.root, all.clips, { encoding: crowds.frames }),
  bakeVertexCharacter(root, clips.slice(0, 1), { fps: 10 }),
];
const made = characters.map((character, row) => {
  const crowd = new SkinnedInstancedMesh(character, 8);
  for (let i = 0; i < 8; i++) {
    crowd.setMatrixAt(i, new Matrix4().makeTranslation(i - 3.5, 0, 2 * row - 3));
    crowd.setColorAt(i, new Color().setHSL(i / 8, 1, 0.7)).play(i, 0, { time: i / 8 });
  }
  crowd.castShadow = crowd.receiveShadow = true;
  scene.add(crowd);
  const uniforms = new crowds.InstanceUniforms(crowd, { emissive: 'color', roughness: 'float' });
  uniforms.setAt(0, 'emissive', new Color(0.2, 0, 0)).setAt(1, 'roughness', 0);
  new crowds.InstanceParts(crowd).setColorAt(3, 0, new Color(0, 1, 0)).setVisibleAt(4, 0, false);
  if (row < 3) new crowds.CrowdLevels(crowd, { dissolve: 0.9 }).add(crowd.geometry, 9);
  return crowd;
});
const [crowd, , frames, cloth] = made;
const kinds = new crowds.CrowdKinds(crowd);
kinds.setKindAt(5, kinds.add(crowds.bakeCharacter(createTall().root, [])));
new crowds.AnimationLayers(crowd, [{ name: 'arms', mask: ['Spine'] }]);
crowd.play(6, 3, { layer: 'arms' });
new crowds.JointEdits(crowd).lookAt(7, 'Head', new Vector3(0, 9, 0)).setScaleAt(6, 'Head', new Vector3(2, 2, 2));
for (const one of [frames, cloth]) new crowds.InstanceMotions(one, rise());
const [levels] = crowd.features.filter((one) => one instanceof crowds.CrowdLevels);
const impostor = levels.add(new crowds.Impostor({ clips: [clips[0].name] }), 10);
for (const one of made) one.update(0.3);
for (let i = 0; i < 100 && !(impostor.isReady && i > 2); i++) renderer.render(scene, camera);
const copy = Object.assign(document.createElement('canvas'), { width: 256, height: 192 });
copy.getContext('2d').drawImage(renderer.domElement, 0, 0);
document.title = impostor.isReady + copy.toDataURL();
`;

const ENTRIES = Object.keys(RENDERERS) as (keyof typeof RENDERERS)[];

test.each(ENTRIES)('%s draws in production as in development', async (entry) => {
  const drawn: string[] = [];
  for (const conditions of [[], ['production']]) {
    const { page, problems, close } = await packed.open(pageOf(entry), 'drawn.ts', conditions);
    await page.waitForFunction(() => document.title.startsWith('true'));
    expect(problems).toEqual([]);
    drawn.push(await page.title());
    await close();
  }
  expect(drawn[1] === drawn[0]).toBe(true);
});
