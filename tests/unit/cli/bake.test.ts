import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { MeshoptSimplifier } from 'meshoptimizer';
import type { BakeOptions } from 'skinned-instanced-mesh';
import { bakeVertexCharacter, type VertexTexture } from 'skinned-instanced-mesh/vertex-textures';
import { AnimationMixer, type Bone, Box3, type BufferAttribute, Vector3 } from 'three';
import { beforeAll, describe, expect, test } from 'vitest';
import type { BakeReport } from '../../../lib/cli/formatText.js';
import type { InspectReport } from '../../../lib/cli/inspectCommand.js';
import { collectWarnings } from '../../../lib/cli/messages.js';
import { loadScene, readSource } from '../../../lib/cli/readSource.js';
import { buildGlb, parseGlb } from '../../../lib/files/glb.js';
import { modelsFolder } from '../../setup/models.mjs';
import { charactersOf, loadFile } from '../../support/bakedFiles.js';
import { bitsOf } from '../../support/bitsOf.js';
import { describeCharacter } from '../../support/characters.js';
import { createCoarseCharacter } from '../../support/coarseCharacter.js';
import { armFolder, command } from '../../support/commandLine.js';
import { type Compression, pyramid } from '../../support/compressedFiles.js';
import { crowdOfFile } from '../../support/crowdArguments.js';
import { exportGlb } from '../../support/exportGlb.js';
import { fbxOf } from '../../support/fbxOf.js';
import { partsOf } from '../../support/features.js';
import { addSimplifiedLevels, levelsOf } from '../../support/levels.js';
import {
  type BoneTexture,
  bakeBoneTexture,
  bakeCharacter,
  extractRootMotion,
  frames,
  getVertexPosition,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { THOROUGH } from '../../support/thorough.js';
import { validateGlb } from '../../support/validateGlb.js';

const path = armFolder();
const arm = () => new Uint8Array(readFileSync(path('arm.glb')));

/** Bakes a file, and gives what was written and said. */
async function bake(input: string, ...args: string[]) {
  const output = path('out.glb');
  const { code, stdout, stderr } = await command('bake', input, '-o', output, '--json', ...args);
  expect(code, stderr).toBe(0);
  const bytes = new Uint8Array(readFileSync(output));
  return { bytes, report: JSON.parse(stdout) as BakeReport, stderr };
}

const read = async (bytes: Uint8Array) => (await charactersOf(bytes))[0].boneTexture;

const expectSame = (data: unknown, wanted: BoneTexture) => expect(bitsOf(data)).toEqual(bitsOf(wanted.data));

/** What a page bakes of a file that it loads. */
async function bakedInPage(bytes: Uint8Array, options: BakeOptions = {}): Promise<BoneTexture> {
  const { scene, animations } = await loadScene(bytes);
  return collectWarnings([], () => bakeBoneTexture(scene, animations, options));
}

describe('a .glb', () => {
  test('holds what a page would bake of it, number for number', async () => {
    const { bytes, report } = await bake(path('arm.glb'), '--encoding', 'tracks', '--drop-source-animations');
    expectSame((await read(bytes)).data, await bakedInPage(arm()));
    expect(await validateGlb(bytes)).toEqual([]);
    const { json } = parseGlb(bytes);
    expect(json.animations).toBe(undefined);
    const animated = (await bake(path('arm.glb'), '--source-animations')).bytes;
    expect((parseGlb(animated).json.animations as object[]).length).toBeGreaterThan(1);
    expect(await validateGlb(animated)).toEqual([]);
    expect(json.images).toMatchObject([{ mimeType: 'image/png' }]);
    expect(report.clips.map(({ name }) => name)).toEqual(['Wave', 'Walk', 'Flex', 'T-Pose']);
    expect(report.warnings).toEqual([expect.stringContaining('Elsewhere.position')]);
  });

  test.each<[string, BakeOptions]>([
    ['--encoding frames --fps 12 --precision half', { encoding: frames, fps: 12, precision: 'half' }],
    [
      '--clips Walk,Wave@60 --encoding frames',
      { clips: ['Walk', { clip: 'Wave', fps: 60 }], encoding: frames },
    ],
    ['--exclude *Pose,Flex --max-error 1e-3', { clips: ['Wave', 'Walk'], maxError: 1e-3 }],
    ['--root-motion', { rootMotion: extractRootMotion() }],
    [
      '--root-motion-joint Shoulder --root-motion-clips Walk --root-motion-vertical --no-root-motion-yaw',
      { rootMotion: extractRootMotion({ joint: 'Shoulder', clips: ['Walk'], vertical: true, yaw: false }) },
    ],
    ['--no-morph-targets --sockets Watch --no-compress', { morphTargets: false, sockets: ['Watch'] }],
    ['--max-texture-size 64 --encoding frames', { maxTextureSize: 64, encoding: frames }],
  ])('is baked with %s as with the options of the library', async (args, options) => {
    const { bytes } = await bake(path('arm.glb'), ...args.split(' '));
    const wanted = await bakedInPage(arm(), options);
    expectSame((await read(bytes)).data, wanted);
  });
});

/** A crowd of a file as a page has it. */
const crowdOf = async (bytes: Uint8Array): Promise<SkinnedInstancedMesh> =>
  crowdOfFile(await loadFile(bytes), 2);

/** Where corners of a crowd's second instance are. */
const placesOf = (crowd: SkinnedInstancedMesh): string[] =>
  Array.from(crowd.geometry.index?.array ?? [], (vertex) => placeOf(crowd, vertex).join()).sort();

const placeOf = (crowd: SkinnedInstancedMesh, vertex: number) =>
  getVertexPosition(crowd, 1, vertex, new Vector3()).toArray();

test('a file that is larger than its source says why, and what would help', async () => {
  const bakedBy = async (...args: string[]) =>
    (await command('bake', path('arm.glb'), '-o', path('out.glb'), '--force', ...args)).stdout;
  expect(await bakedBy()).toMatch(/is .* larger than its source, as .* baked; --precision half takes/);
  expect(await bakedBy('--precision', 'half')).toMatch(/larger than its source, as .* baked\./);
});

describe('vertex textures', () => {
  test('are in the file as a page would bake them, and crowds play them', async () => {
    const args = ['--vat', '--fps', '12', '--exclude', 'T-Pose', '--levels', '0.5@20'];
    const { bytes, report } = await bake(path('arm.glb'), ...args);
    const { scene, animations } = await loadScene(arm());
    const clips = ['Wave', 'Walk', 'Flex'];
    const wanted = await collectWarnings([], () =>
      bakeVertexCharacter(scene, animations, { fps: 12, clips }),
    );
    const data = (texture: BoneTexture) => bitsOf((texture as VertexTexture).vertexData);
    expect(data(await read(bytes))).toEqual(data(wanted.boneTexture));
    expect(report).toMatchObject({ encoding: 'vertices', precision: 'half', joints: [] });
    expect(await validateGlb(bytes)).toEqual([]);

    const crowd = await crowdOf(bytes);
    const made = new SkinnedInstancedMesh(wanted, 2);
    for (const one of [crowd, made]) one.play(1, 'Wave', { time: 0.37 });
    expect(placesOf(crowd)).toEqual(placesOf(made));
    expect(levelsOf(crowd).levels).toHaveLength(2);
    const { stdout } = await command('inspect', path('out.glb'), '--json');
    const [inspected] = (JSON.parse(stdout) as InspectReport).characters;
    expect(inspected.encoding).toBe('vertices');
    expect(inspected.levels).toMatchObject([{ distance: 20 }]);
  });

  test('have no joints', async () => {
    for (const option of ['--encoding=tracks', '--sockets=Watch', '--root-motion', '--no-morph-targets']) {
      const { code, stderr } = await command('bake', path('arm.glb'), '-o', path('out.glb'), '--vat', option);
      expect(code).toBe(2);
      expect(stderr).toContain(`bake: ${option.split('=')[0]} is about joints`);
    }
  });
});

describe('levels of detail', () => {
  test('are in the file as a page would make them, and crowds have them', async () => {
    const args = ['--levels', '0.5@20,0.25@60', '--hidden-parts', 'Watch'];
    const { bytes, report } = await bake(path('arm.glb'), ...args);
    const { scene, animations } = await loadScene(arm());
    const made = await collectWarnings(
      [],
      () => new SkinnedInstancedMesh(bakeCharacter(scene, animations), 2),
    );
    await MeshoptSimplifier.ready;
    const wanted = addSimplifiedLevels(made, MeshoptSimplifier, [
      { ratio: 0.5, distance: 20 },
      { ratio: 0.25, distance: 60 },
    ]);
    const crowd = await crowdOf(bytes);
    expect(levelsOf(crowd).levels.map(({ distance }) => distance)).toEqual([0, 20, 60]);
    expect(report.levels.map(({ triangles }) => triangles)).toEqual(wanted.map(({ triangles }) => triangles));
    expect(partsOf(crowd).getVisibleAt(0, 'Watch')).toBe(false);
    crowd.play(1, 'Wave', { time: 0.37 });
    made.play(1, 'Wave', { time: 0.37 });
    expect(placesOf(crowd)).toEqual(placesOf(made));
    expect(await validateGlb(bytes)).toEqual([]);
  });
});

test('parts that are never shown are left out, with their vertices', async () => {
  const whole = await bake(path('arm.glb'));
  const { bytes } = await bake(path('arm.glb'), '--drop-parts', 'Watch');
  const names = (file: Uint8Array) => crowdOf(file).then((crowd) => partsOf(crowd).names);
  expect(await names(whole.bytes)).toContain('Watch');
  expect(await names(bytes)).not.toContain('Watch');
  expect(bytes.length).toBeLessThan(whole.bytes.length);
  expect(await validateGlb(bytes)).toEqual([]);
});

const KNIGHT = `${modelsFolder()}/Knight.glb`;

test.each([path('arm.glb'), ...(existsSync(KNIGHT) ? [KNIGHT] : [])])(
  'with --compress-meshes the meshes of %s are smaller, and look and pose as they did',
  async (file) => {
    const [whole, small] = [await bake(file), await bake(file, '--compress-meshes')];
    const [before, after] = [whole, small].map(({ report }) => report.output.bytesByKind.geometry);
    expect(after).toBeLessThan(before * (file === KNIGHT ? 0.7 : 1));
    expect(small.report.joints).toEqual(whole.report.joints);
    expect(await validateGlb(small.bytes)).toEqual([]);
    const [expected, seen] = await Promise.all(
      [whole, small].map(async ({ bytes }) => {
        const crowd = await crowdOf(bytes);
        crowd.play(1, 0, { time: 0.3 });
        const { index, attributes } = crowd.geometry;
        const { count } = index as BufferAttribute;
        const box = new Box3();
        const sums = [0, 0, 0, 0, 0];
        for (let i = 0; i < count; i++) {
          const vertex = (index as BufferAttribute).getX(i);
          box.expandByPoint(new Vector3(...placeOf(crowd, vertex)));
          for (const [k, name] of ['normal', 'normal', 'normal', 'uv', 'uv'].entries())
            sums[k] += (attributes[name]?.getComponent(vertex, k % 3) ?? 0) / count;
        }
        return { box, count, sums };
      }),
    );
    expect(seen.count).toBe(expected.count);
    const height = expected.box.getSize(new Vector3()).length();
    for (const end of ['min', 'max'] as const)
      expect(seen.box[end].distanceTo(expected.box[end])).toBeLessThan(2e-3 * height);
    for (const [k, sum] of seen.sums.entries()) expect(sum).toBeCloseTo(expected.sums[k], 2);
  },
);

describe('clips of other files', async () => {
  const { root, clips } = createCoarseCharacter();
  const bones = root.getObjectsByProperty('isBone', true) as Bone[];
  const [walk, wave] = ['Walk', 'Wave'].map((name) => clips.find((clip) => clip.name === name)!);
  beforeAll(async () => {
    writeFileSync(path('person.glb'), new Uint8Array(await exportGlb(root, [walk, wave])));
    writeFileSync(path('body.fbx'), fbxOf(bones, walk));
    writeFileSync(path('hello.fbx'), fbxOf(bones, wave));
    const mixer = new AnimationMixer(root);
    mixer.clipAction(walk).play();
    mixer.setTime(0.3);
    writeFileSync(path('walking.fbx'), fbxOf(bones, wave));
    for (const bone of bones) bone.name = `mixamorig${bone.name}`;
    writeFileSync(path('skinned.glb'), new Uint8Array(await exportGlb(root, [])));
  });

  /** Where corners of the person are in a clip, from the first of them. */
  const wavedBy = async (...args: string[]) => {
    const { bytes, report } = await bake(path('person.glb'), ...args);
    const crowd = await crowdOf(bytes);
    const { count } = crowd.geometry.attributes.position;
    crowd.play(1, report.clips.length - 1, { time: 0.6 });
    const places = Array.from({ length: count }, (_, i) => getVertexPosition(crowd, 1, i, new Vector3()));
    return { report, places: places.map((place) => place.clone().sub(places[0])) };
  };
  const farthest = ({ places }: { places: Vector3[] }, others: { places: Vector3[] }) =>
    Math.max(...places.map((place, i) => place.distanceTo(others.places[i])));

  test('are taken as they are where bodies are alike, and made to fit where not, from an .fbx without a skin too', async () => {
    const wanted = await wavedBy('--clips', 'Wave');
    const own = await wavedBy('--clips', `${path('person.glb')}/Wa*@30`, '--exclude', 'Walk');
    expect(farthest(own, wanted)).toBe(0);
    const hello = await wavedBy('--clips', 'Walk', path('hello.fbx'));
    expect(hello.report.clips.map(({ name }) => name)).toEqual(['Walk', 'hello']);
    expect(hello.report.warnings).toEqual([]);
    expect(farthest(hello, wanted)).toBeLessThan(2e-3);
    const walking = ['--clips', path('walking.fbx')];
    const stepping = await wavedBy(...walking);
    expect(farthest(stepping, wanted)).toBeGreaterThan(0.03);
    // To a body that rests otherwise than that, knees bend to put feet where its are.
    expect(farthest(await wavedBy(...walking, '--clips-ik'), stepping)).toBeGreaterThan(0.03);
    // The skinned one rests in the middle of a step too, but not in its bind pose.
    for (const body of ['body.fbx', 'skinned.glb'])
      expect(farthest(await wavedBy(...walking, '--clips-body', path(body)), wanted)).toBeLessThan(2e-3);
  });

  test('say what does not match, and how to say it', async () => {
    const others = ['-o', path('out.glb'), '--clips', path('arm.glb')];
    const { stderr } = await command('bake', path('person.glb'), ...others);
    expect(stderr).toContain('does not fit');
    expect(stderr).toContain('--clips-names and --names say which joints are what: retargetClips: ');
    const names = ['--clips-names', `head=${bones[3].name}`, '--names=head=Neck'];
    const named = await wavedBy('--clips', path('hello.fbx'), ...names);
    expect(named.report.warnings.join()).toMatch(/turn: "mixamorigHead".*pose: "Head"/);
  });
});

test('a .gltf becomes one file with all that lies beside it', async () => {
  const { bytes, report } = await bake(path('apart', 'arm.gltf'));
  expectSame((await read(bytes)).data, await bakedInPage(arm()));
  expect(parseGlb(bytes).json.images).toMatchObject([{ mimeType: 'image/png' }]);
  expect(await validateGlb(bytes)).toEqual([]);
  const beside = readdirSync(path('apart')).map((file) => readFileSync(path('apart', file)).length);
  expect(report.input.bytes).toBe(beside.reduce((sum, size) => sum + size));
});

test.each<Compression>(['quantised', 'meshopt', 'draco'])('a %s file is read', async (compression) => {
  writeFileSync(path('packed.glb'), await pyramid(compression));
  const { bytes, report } = await bake(path('packed.glb'), '--encoding', 'frames');
  const { data } = await read(bytes);
  expect(data.jointNames).toEqual(['Foot', 'Tip']);
  const { glb } = await readSource('bake', path('packed.glb'), false);
  expectSame(data, await bakedInPage(glb, { encoding: frames }));
  expect(report.warnings).toEqual([]);
});

describe('what is wrong', () => {
  const fails = async (code: number, message: string, ...args: string[]) => {
    const ran = await command('bake', ...args);
    expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code, stdout: '' });
    expect(ran.stderr).toContain(message);
  };
  const out = () => ['-o', path('never.glb')];

  const failsOf = (file: string, message: string, ...args: string[]) =>
    fails(1, message, file, ...out(), ...args);
  const failsOfArm = (...args: [message: string, ...string[]]) => failsOf(path('arm.glb'), ...args);

  const changed = async (name: string, change: (json: Record<string, never>) => void) => {
    const { json, binary } = parseGlb(arm());
    change(json as Record<string, never>);
    writeFileSync(path(name), buildGlb(json, binary));
    return path(name);
  };

  test('with the file that is read is said, and nothing is written', async () => {
    await fails(1, `bake: there is no file ${path('none.glb')}`, path('none.glb'), ...out());
    await fails(1, `bake: ${path('apart')} is no file`, path('apart'), ...out());
    writeFileSync(path('text.glb'), 'not a model');
    await fails(1, 'is no glTF file that can be read: its JSON is broken', path('text.glb'), ...out());
    writeFileSync(path('half.glb'), readFileSync(path('arm.glb')).subarray(0, 3000));
    await fails(1, 'is no glTF file that can be read', path('half.glb'), ...out());
    writeFileSync(path('old.gltf'), JSON.stringify({ asset: { version: '1.0' } }));
    await fails(1, 'it is of glTF 1.0, and 2.0 is needed', path('old.gltf'), ...out());
    writeFileSync(path('alone.gltf'), readFileSync(path('apart', 'arm.gltf')));
    await fails(1, 'needs the file', path('alone.gltf'), ...out());
    const still = await changed('still.glb', (json) => delete json.animations);
    await fails(1, 'has no animations', still, ...out());
    await failsOfArm('still.glb has no animations; export it with some', '--clips', still);
    await failsOfArm('there is no file walk.fbx', '--clips', 'walk.fbx');
    const empty = await changed('empty.glb', (json) => delete json.scenes);
    await fails(1, 'has no scene', empty, ...out());
    const dangling = { asset: { version: '2.0' }, scenes: [{ nodes: [5] }], nodes: [], animations: [{}] };
    writeFileSync(path('dangling.gltf'), JSON.stringify(dangling));
    await failsOf(path('dangling.gltf'), 'it is damaged, or refers to something that is not in it');
    const strange = await changed('strange.glb', (json) => {
      Object.assign(json, { extensionsUsed: ['ACME_x'], extensionsRequired: ['ACME_x'] });
    });
    await fails(1, 'cannot be read without ACME_x', strange, ...out());
    expect(readdirSync(path()).filter((name) => /never|tmp/.test(name))).toEqual([]);
  });

  test('with the files that it names: outside its folder only where that is allowed, and none without an end', async () => {
    const text = readFileSync(path('apart', 'arm.gltf'), 'utf8');
    const named = (name: string, uri: string) => {
      const json = JSON.parse(text);
      json.buffers[0].uri = uri;
      for (const image of json.images) image.uri = `../apart/${image.uri}`;
      json.animations[0].name = 'Wave\u001b[31m';
      writeFileSync(path(name), JSON.stringify(json));
      return path(name);
    };
    await fails(1, 'it names /dev/zero, which is no file', named('zero.gltf', '/dev/zero'), ...out());
    const [buffer] = readdirSync(path('apart')).filter((file) => file.endsWith('.bin'));
    mkdirSync(path('below'), { recursive: true });
    const uri = `../apart/${buffer}`;
    const stranger = named('below/arm.gltf', uri);
    const message = `it names ${uri}, outside its folder; pass --outside if you trust it`;
    await fails(1, message, stranger, ...out());
    expect((await command('inspect', stranger)).stderr).toContain(message);
    const { code, stdout, stderr } = await command('inspect', stranger, '--outside');
    expect(code, stderr).toBe(0);
    expect(stdout).toContain('Wave\\u001b[31m');
  });

  test('with a file that is baked already is said, and that of an earlier command is baked anew', async () => {
    const { bytes } = await bake(path('arm.glb'));
    writeFileSync(path('baked.glb'), bytes);
    const message = 'is baked already, without its animations; bake the file that it was made';
    await failsOf(path('baked.glb'), message);
    const old = await changed('old.glb', (json) => {
      Object.assign(json, { extensions: { SIM_baked_animation: { version: 1, characters: [{}] } } });
    });
    expectSame((await read((await bake(old)).bytes)).data, await bakedInPage(arm()));
    const { code, stderr } = await command('inspect', old);
    expect(code).toBe(1);
    expect(stderr).toMatch(/is of version 1, and this.*bake the file anew/);
  });

  test('with what is asked of it is said', async () => {
    const known = 'bake: --clips has "Runn", and there is no such clip; there are "Wave", "Walk"';
    await failsOfArm(known, '--clips', 'Runn');
    await failsOfArm('bake: --exclude leaves no clip', '--exclude', '*');
    await failsOfArm('bake: --root-motion-clips has "Fly"', '--root-motion-clips', 'Fly');
    await failsOfArm('Hat', '--sockets', 'Hat');
    await failsOfArm('--drop-parts names "Hat", but there is no such part', '--drop-parts', 'Hat');
    await failsOfArm('use a smaller share', '--levels', '0.5,0.2@90%');
    await failsOfArm('maxTextureSize is 2', '--max-texture-size', '2');
  });

  test('with the file that is written is said before any work is done', async () => {
    const missing = path('missing', 'out.glb');
    await fails(1, `there is no folder ${path('missing')}`, path('arm.glb'), '-o', missing);
    const before = readFileSync(path('arm.glb'));
    const same = 'is the file that is read; write to another one, or pass --force';
    await fails(2, same, path('arm.glb'), '-o', path('arm.glb'));
    expect(readFileSync(path('arm.glb'))).toEqual(before);
    writeFileSync(path('own.glb'), before);
    expect((await command('bake', path('own.glb'), '-o', path('own.glb'), '--force')).code).toBe(0);
    expect((await read(new Uint8Array(readFileSync(path('own.glb'))))).clips).toHaveLength(4);
  });
});

const SMALL = ['CesiumMan.glb', 'RobotExpressive.glb'];
const REAL = THOROUGH ? [...SMALL, 'Horse.glb', 'Knight.glb'] : SMALL;
REAL.forEach((file) =>
  describeCharacter(file, () => {
    test('is baked as in a page, number for number', async () => {
      const input = `${modelsFolder()}/${file}`;
      const { bytes, report } = await bake(input);
      const wanted = await bakedInPage(new Uint8Array(readFileSync(input)));
      expectSame((await read(bytes)).data, wanted);
      // Takes many times as long as all else.
      if (THOROUGH) expect(await validateGlb(bytes)).toEqual([]);
      const lean = (await bake(input, '--precision', 'half', '--max-error', '1e-3')).report;
      const sizes = [report.input.bytes, report.output.bytes, lean.output.bytes];
      console.log(
        `${file}: ${sizes.map((size) => (size / 1e6).toFixed(2)).join(', ')} MB (source, baked, at 16 bit)`,
      );
    });
  }),
);
