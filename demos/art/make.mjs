/**
 * Makes the files of this folder from KayKit's packs, with the command of this library:
 *
 *   npm run build:lib && node demos/art/make.mjs ../shared/art              all
 *   npm run build:lib && node demos/art/make.mjs ../shared/art village.glb  some
 *
 * where that folder has the packs as README.md says.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Document, NodeIO } from '@gltf-transform/core';
import { EXTMeshoptCompression, KHRMaterialsUnlit, KHRMeshQuantization } from '@gltf-transform/extensions';
import { MeshoptEncoder } from 'meshoptimizer';

const [packs, ...chosen] = process.argv.slice(2);
if (packs === undefined) throw new Error('Say where the packs are: node demos/art/make.mjs FOLDER');
const here = fileURLToPath(new URL('.', import.meta.url));
const command = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const temporary = mkdtempSync(join(tmpdir(), 'art-'));

await MeshoptEncoder.ready;
const io = new NodeIO()
  .registerExtensions([EXTMeshoptCompression, KHRMaterialsUnlit, KHRMeshQuantization])
  .registerDependencies({ 'meshopt.encoder': MeshoptEncoder });

const ATTACKS = ['1H_Melee_Attack_Chop', '1H_Melee_Attack_Slice_Diagonal', '1H_Melee_Attack_Stab'];
const SHARED = [...ATTACKS, 'Idle', 'Walking_A', 'Running_A', 'Cheer', 'Hit_A', 'Death_A', 'Death_B'];

/** A character without the weapons that nobody shows. */
async function read(file, weapons) {
  const document = await io.read(join(packs, 'adventurers', file));
  const root = document.getRoot();
  for (const node of root.listNodes()) {
    const isBody = /^(Knight|Rogue)_/.test(node.getName());
    if (node.getMesh() !== null && !isBody && !weapons.includes(node.getName())) node.getMesh().dispose();
  }
  return document;
}

/** The same without the clips that nobody shows, baked, with levels of detail. */
async function character(file, name, weapons, clips) {
  const document = await read(file, weapons);
  const source = join(temporary, file);
  await io.write(source, document);
  const options = '--precision half --levels 0.35,0.1,0.03 --clips'.split(' ');
  bake(source, name, [...options, clips.join(',')]);
}

/** A body alone, as glTF has it, to be bound to another's joints. */
async function body(file, name, weapons) {
  const document = await read(file, weapons);
  const root = document.getRoot();
  for (const one of root.listAnimations()) one.dispose();
  const used = new Set(root.listSkins().map((skin) => skin.getInverseBindMatrices()));
  for (const primitive of root.listMeshes().flatMap((mesh) => mesh.listPrimitives()))
    for (const one of [primitive.getIndices(), ...primitive.listAttributes()]) used.add(one);
  for (const accessor of root.listAccessors()) if (!used.has(accessor)) accessor.dispose();
  await write(document, name);
}

/** The clips alone, as the SkinnedMeshes need them that the page compares with. */
async function moves(file, name, clips) {
  const document = await io.read(join(packs, 'adventurers', file));
  const root = document.getRoot();
  const unwanted = root.listAnimations().filter((one) => !clips.includes(one.getName()));
  for (const one of [...root.listMeshes(), ...root.listSkins(), ...root.listMaterials(), ...unwanted]) {
    one.dispose();
  }
  for (const texture of root.listTextures()) texture.dispose();
  const used = new Set();
  for (const animation of root.listAnimations()) {
    for (const channel of animation.listChannels()) if (isIdle(channel)) channel.dispose();
    const samplers = new Set(animation.listChannels().map((channel) => channel.getSampler()));
    for (const sampler of animation.listSamplers()) if (!samplers.has(sampler)) sampler.dispose();
    for (const sampler of samplers) used.add(sampler.getInput()).add(sampler.getOutput());
  }
  for (const accessor of root.listAccessors()) if (!used.has(accessor)) accessor.dispose();
  await write(document, name);
}

/** Whether a track leaves its joint where it is at rest. */
function isIdle(channel) {
  const node = channel.getTargetNode();
  const rest = { translation: node.getTranslation(), rotation: node.getRotation(), scale: node.getScale() };
  const at = rest[channel.getTargetPath()];
  const values = channel.getSampler().getOutput().getArray();
  return values.every((value, i) => Math.abs(value - at[i % at.length]) < 1e-4);
}

/** Models that stand about: each one mesh, positions in 16 bits, all in one material. */
async function scenery(name, files, pack = 'medieval') {
  const document = new Document();
  const buffer = document.createBuffer();
  document.createExtension(KHRMeshQuantization).setRequired(true);
  const material = document.createMaterial(pack).setRoughnessFactor(0.9).setMetallicFactor(0);
  const scene = document.createScene();
  for (const file of files) {
    const source = await io.read(join(packs, pack, `${file}.gltf`));
    const texture = source.getRoot().listTextures()[0];
    if (material.getBaseColorTexture() === null) {
      const copy = document.createTexture(pack).setImage(texture.getImage()).setMimeType('image/png');
      material.setBaseColorTexture(copy);
    }
    const { corners, index } = joined(source);
    const [remap, unique] = MeshoptEncoder.reorderMesh(index, true, true);
    const reach = corners.reduce((most, { position }) => Math.max(most, ...position.map(Math.abs)), 0);
    const arrays = { POSITION: new Int16Array(unique * 4), NORMAL: new Int8Array(unique * 4) };
    const uv = new Uint16Array(unique * 2);
    for (const [i, to] of remap.entries()) {
      if (to === 0xffffffff) continue;
      const { position, normal, map } = corners[i];
      for (let k = 0; k < 3; k++) {
        arrays.POSITION[to * 3 + k] = Math.round((position[k] / reach) * 32767);
        arrays.NORMAL[to * 3 + k] = Math.round(normal[k] * 127);
      }
      for (let k = 0; k < 2; k++) uv[to * 2 + k] = Math.round(map[k] * 65535);
    }
    const accessor = (array, type) =>
      document.createAccessor().setBuffer(buffer).setArray(array).setType(type).setNormalized(true);
    const primitive = document
      .createPrimitive()
      .setMaterial(material)
      .setIndices(accessor(Uint16Array.from(index), 'SCALAR').setNormalized(false))
      .setAttribute('POSITION', accessor(arrays.POSITION.subarray(0, unique * 3), 'VEC3'))
      .setAttribute('NORMAL', accessor(arrays.NORMAL.subarray(0, unique * 3), 'VEC3'))
      .setAttribute('TEXCOORD_0', accessor(uv, 'VEC2'));
    const mesh = document.createMesh(basename(file)).addPrimitive(primitive);
    scene.addChild(document.createNode(basename(file)).setMesh(mesh).setScale([reach, reach, reach]));
  }
  if (name === 'scenery.glb') scene.addChild(document.createNode('ridge').setMesh(ridge(document, buffer)));
  await write(document, name);
}

/** Mountains in the distance: cones of three rings, already in the colours of haze and a low sun from the left. */
function ridge(document, buffer) {
  let seed = 7;
  const random = (from, to) => {
    seed = (seed * 16807) % 2147483647;
    return from + (seed / 2147483647) * (to - from);
  };
  // linear: rock, what the sun lights, snow, haze
  const [rock, lit, snow, haze] = [
    [0.078, 0.174, 0.479],
    [0.745, 0.418, 0.188],
    [1, 0.88, 0.723],
    [0.716, 0.539, 0.323],
  ];
  const mix = (a, b, share) => a.map((value, i) => value + (b[i] - value) * share);
  const positions = [];
  const colors = [];
  for (let k = 0; k < 46; k++) {
    const angle = (k / 45 - 0.5) * 3;
    const far = random(560, 740);
    const [x, z, height] = [Math.sin(angle) * far, -60 - Math.cos(angle) * far, random(60, 150)];
    const width = height * random(0.9, 1.3);
    const ring = (radius, y, rough) =>
      Array.from({ length: 9 }, (_, i) => {
        const r = radius * random(1 - rough, 1 + rough);
        const turn = (i / 9) * 2 * Math.PI;
        return [x + Math.cos(turn) * r, y * random(1 - rough / 2, 1 + rough / 2), z + Math.sin(turn) * r];
      });
    const slopes = [ring(width * 0.62, height * 0.36, 0.25), ring(width * 0.28, height * 0.72, 0.3)];
    const rings = [ring(width, -4, 0), ...slopes, ring(0, height, 0)];
    for (let j = 0; j < 3; j++) {
      for (let i = 0; i < 9; i++) {
        const next = (i + 1) % 9;
        const [a, b, c, d] = [rings[j][i], rings[j + 1][i], rings[j + 1][next], rings[j][next]];
        const sunny = Math.max(0, -Math.cos(((i + 0.5) / 9) * 2 * Math.PI));
        const color = mix(rock, j === 2 ? snow : lit, Math.min(1, (j === 2 ? 0.35 : 0.1) + 0.6 * sunny));
        for (const corner of [a, b, c, a, c, d]) {
          positions.push(...corner);
          colors.push(...mix(color, haze, [0.62, 0.34, 0.2][j]));
        }
      }
    }
  }
  const unlit = document.createExtension(KHRMaterialsUnlit).createUnlit();
  const material = document
    .createMaterial('ridge')
    .setDoubleSided(true)
    .setExtension('KHR_materials_unlit', unlit);
  const accessor = (array, normalized) =>
    document.createAccessor().setBuffer(buffer).setArray(array).setType('VEC3').setNormalized(normalized);
  const primitive = document
    .createPrimitive()
    .setMaterial(material)
    .setAttribute('POSITION', accessor(Float32Array.from(positions), false))
    .setAttribute(
      'COLOR_0',
      accessor(
        Uint8Array.from(colors, (value) => Math.round(value * 255)),
        true,
      ),
    );
  return document.createMesh('ridge').addPrimitive(primitive);
}

/** All triangles of a document, where its nodes put them. */
function joined(document) {
  const corners = [];
  const index = [];
  for (const node of document.getRoot().listNodes()) {
    const m = node.getWorldMatrix();
    const turned = (v, w) =>
      [0, 1, 2].map((k) => m[k] * v[0] + m[4 + k] * v[1] + m[8 + k] * v[2] + m[12 + k] * w);
    for (const primitive of node.getMesh()?.listPrimitives() ?? []) {
      const [position, normal, map] = ['POSITION', 'NORMAL', 'TEXCOORD_0'].map((one) =>
        primitive.getAttribute(one),
      );
      const first = corners.length;
      for (let i = 0; i < position.getCount(); i++) {
        const direction = turned(normal.getElement(i, []), 0);
        const length = Math.hypot(...direction) || 1;
        corners.push({
          position: turned(position.getElement(i, []), 1),
          normal: direction.map((value) => value / length),
          map: map.getElement(i, []),
        });
      }
      for (const at of primitive.getIndices().getArray()) index.push(first + at);
    }
  }
  return { corners, index: Uint32Array.from(index) };
}

async function write(document, name) {
  document
    .createExtension(EXTMeshoptCompression)
    .setRequired(true)
    .setEncoderOptions({ method: EXTMeshoptCompression.EncoderMethod.QUANTIZE });
  await io.write(join(here, name), document);
  console.log(name, statSync(join(here, name)).size);
}

function bake(source, name, options) {
  execFileSync(process.execPath, [command, 'bake', source, '-o', join(here, name), ...options]);
  console.log(name, statSync(join(here, name)).size);
}

const KNIGHT = [...SHARED, 'Block', 'Blocking'];
const SHOTS = ['2H_Ranged_Shoot', '2H_Ranged_Aiming', '2H_Ranged_Reload'];
const ROGUE = [...SHARED, 'Dodge_Backward', ...SHOTS];
const nature = 'decoration/nature';
const FILES = {
  'knight.glb': (name) => {
    const weapons = ['1H_Sword', 'Round_Shield', 'Rectangle_Shield', 'Spike_Shield'];
    return character('Knight.glb', name, weapons, KNIGHT);
  },
  'rogue.glb': (name) => {
    return character('Rogue_Hooded.glb', name, ['Knife', 'Knife_Offhand', '2H_Crossbow'], ROGUE);
  },
  'villager.glb': (name) => {
    return character('Rogue.glb', name, [], ['Idle', 'Walking_A', 'Running_A', 'Cheer', 'Interact']);
  },
  'body.glb': (name) => body('Knight.glb', name, ['1H_Sword', 'Round_Shield']),
  'moves.glb': (name) => moves('Knight.glb', name, [...KNIGHT, 'Dodge_Backward', ...SHOTS]),
  'scenery.glb': (name) =>
    scenery(name, [
      'tiles/base/hex_grass',
      'buildings/blue/building_castle_blue',
      'buildings/blue/building_tower_A_blue',
      'buildings/blue/building_home_B_blue',
      'buildings/blue/building_church_blue',
      'buildings/neutral/wall_straight',
      'buildings/neutral/wall_straight_gate',
      `${nature}/tree_single_A`,
      `${nature}/tree_single_B`,
    ]),
  'village.glb': (name) =>
    scenery(name, [
      'tiles/base/hex_grass',
      'buildings/red/building_home_A_red',
      'buildings/red/building_tavern_red',
      'buildings/yellow/building_home_B_yellow',
      'buildings/yellow/building_church_yellow',
      'buildings/yellow/building_windmill_yellow',
      'buildings/yellow/building_well_yellow',
      'buildings/blue/building_home_A_blue',
      'buildings/blue/building_market_blue',
      'buildings/green/building_home_B_green',
      `${nature}/tree_single_A`,
      `${nature}/tree_single_B`,
    ]),
  'city.glb': (name) => {
    const buildings = [...'ABCDEFGH'].map((letter) => `building_${letter}_withoutBase`);
    const cars = ['hatchback', 'police', 'sedan', 'stationwagon', 'taxi'].map((kind) => `car_${kind}`);
    const roads = ['base', 'road_straight', 'road_straight_crossing', 'road_junction'];
    const things = ['streetlight', 'trafficlight_A', 'bench', 'bush', 'watertower'];
    return scenery(name, [...buildings, ...cars, ...roads, ...things], 'city');
  },
};
for (const [name, make] of Object.entries(FILES)) {
  if (chosen.length === 0 || chosen.includes(name)) await make(name);
}
rmSync(temporary, { recursive: true });
