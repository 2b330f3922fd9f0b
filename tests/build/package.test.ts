import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { NodeIO } from '@gltf-transform/core';
import type { Page } from 'playwright';
import { publint } from 'publint';
import { build, createServer, preview } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codeFor } from '../../demos/file/codeFor.js';
import { armDocument } from '../support/armDocument.js';
import { pyramid } from '../support/compressedFiles.js';
import { type OpenedApp, PackedApp, ROOT } from '../support/PackedApp.js';
import { PATIENCE } from '../support/patience.js';
import { THOROUGH } from '../support/thorough.js';

/** Kilobytes of each entry, minified and compressed, that it may not grow beyond unnoticed. */
const CEILINGS: Record<string, number> = {
  'skinned-instanced-mesh': 119,
  'skinned-instanced-mesh/webgpu': 144,
};

/** The same of what instances as objects add to the main entry. */
const OBJECTS_CEILING = 13;

/** The same of what reading and writing files adds. */
const FILES_CEILING = 10.5;

/** The same of vertex textures, and of these with their nodes to the entry for WebGPURenderer. */
const VERTEX_CEILINGS: Record<string, number> = { '': 12, '/webgpu': 13 };

/** The same of the command, not compressed: users of the library never load it. */
const COMMAND_CEILING = 760;

/** The same of what baking in a worker adds: its script, with parts of three.js. */
const WORKER_CEILING = 37;

/** What procedural motion adds, with all that is ready-made. */
const MOTION_CEILING = 7;

let packed: PackedApp;
beforeAll(() => {
  packed = new PackedApp();
});
afterAll(() => packed?.dispose());

/** The renderer that goes with each entry. */
const RENDERERS = {
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
const entries = Object.keys(RENDERERS) as (keyof typeof RENDERERS)[];

const app = (entry: keyof typeof RENDERERS) => `
import { AnimationClip, Bone, BoxGeometry, Float32BufferAttribute, Group, Matrix4, MeshBasicMaterial, PerspectiveCamera,
  Scene, Skeleton, SkinnedMesh, Uint16BufferAttribute, VectorKeyframeTrack } from 'three';
import { BoneTexture, SkinnedInstancedMesh, type PlayOptions } from '${entry}';
import 'skinned-instanced-mesh/objects';

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

const crowd: SkinnedInstancedMesh = SkinnedInstancedMesh.from(root, [clip], 100);
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
const object = crowd.createInstance();
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
import { SkinnedInstance } from 'skinned-instanced-mesh/objects';
import type { SkinnedInstancedMesh } from 'skinned-instanced-mesh';

export function addTo(scene: Scene, crowd: SkinnedInstancedMesh): SkinnedInstance[] {
  const knight: SkinnedInstance = crowd.createInstance();
  const object: Object3D = knight;
  scene.add(object, knight.clone());
  knight.addEventListener('finished', ({ instanceId, target }) => console.log(instanceId, target.color));
  knight.addEventListener('finished', ({ action }) => action.crossFadeTo(knight.clipAction('Run'), 0.2, false));
  crowd.addEventListener('finished', ({ action }) => action?.getRoot().setPartVisible(0, true));
  const bones: Bone[] = knight.bones;
  return bones.length === 0 ? [] : [knight, new SkinnedInstance(crowd)];
}
`;

/** A page that bakes in a worker and by itself, and says in its title whether both gave the same. */
const WORKER = `
import { AnimationClip, BoxGeometry, Group, Mesh, MeshBasicMaterial, VectorKeyframeTrack } from 'three';
import { BoneTexture } from 'skinned-instanced-mesh';
import { bakeInWorker } from 'skinned-instanced-mesh/worker';

let started = 0;
window.Worker = class extends Worker {
  constructor(url, options) {
    super(url, options);
    started++;
  }
};
const box = new Mesh(new BoxGeometry(), new MeshBasicMaterial());
box.name = 'Box';
const root = new Group().add(box);
const clip = new AnimationClip('Hop', 1, [new VectorKeyframeTrack('Box.position', [0, 1], [0, 0, 0, 0, 1, 0])]);
const [here, there] = [BoneTexture.bake(root, [clip]), await bakeInWorker(root, [clip])].map(({ data }) => data);
const isSame = here.texels.length > 0 && here.texels.every((number, i) => number === there.texels[i]);
document.title = (isSame ? 'the same' : 'different') + ', workers: ' + started;
`;

/** Errors in an app that uses the package, or in the types of the package. */
function checkApp(resolution: string, files: string[] = []): string[] {
  packed.write('app.ts', app('skinned-instanced-mesh'));
  packed.write('nodes.ts', NODES);
  packed.write('objects.ts', OBJECTS);
  const own = ['app.ts', 'nodes.ts', 'objects.ts', ...files];
  return packed.typeErrors(own, resolution, ['skinned-instanced-mesh', ...own]);
}

describe('the packed tarball', () => {
  test('holds what users need and nothing else', () => {
    const files = readdirSync(packed.installed);
    expect(files.sort()).toEqual(
      ['CHANGELOG.md', 'LICENSE', 'README.md', 'demos', 'dist', 'package.json'].sort(),
    );
    expect(readdirSync(join(packed.installed, 'demos')).sort()).toEqual(['crowd.jpg', 'guides']);
  });

  test('holds what its README and its guides have links to', () => {
    const texts = readdirSync(packed.installed, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.md'),
    );
    expect(texts).toContain('README.md');
    const missing = texts.flatMap((file) =>
      linksOf(readFileSync(join(packed.installed, file), 'utf8'))
        .filter(({ path }) => path !== '' && !existsSync(join(packed.installed, file, '..', path)))
        .map(({ path }) => `${file}: ${path}`),
    );
    expect(missing).toEqual([]);
  });

  test('is named in the README as it is', () => {
    expect(readFileSync(join(ROOT, 'README.md'), 'utf8')).toContain(basename(packed.tarball));
  });

  test('passes publint', async () => {
    const { messages } = await publint({
      pkgDir: packed.installed,
      strict: true,
    });
    expect(messages).toEqual([]);
  });

  test.runIf(THOROUGH)('passes arethetypeswrong, for ES modules, also where exports are not known', () => {
    const args = [packed.tarball, '--profile', 'esm-only', '--format', 'json'];
    const { problems } = JSON.parse(packed.runBin('@arethetypeswrong/cli', 'dist/index.js', args));
    // CommonJS takes the package by a dynamic import alone
    const others = Object.values(problems as Record<string, { resolutionKind?: string }[]>)
      .flat()
      .filter(({ resolutionKind }) => resolutionKind !== 'node16-cjs');
    expect(others).toEqual([]);
  });

  test('holds no copy of three.js, and asks for it as a peer', () => {
    const dist = join(packed.installed, 'dist');
    const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.js'),
    );
    const code = files.map((file) => readFileSync(join(dist, file), 'utf8')).join('\n');
    expect(code).toMatch(/from ["']three["']/);
    expect(code).not.toContain('class Object3D');
    const { dependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(
      readFileSync(join(ROOT, 'package.json'), 'utf8'),
    );
    expect(dependencies).toBe(undefined);
    const asked = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional);
    expect(asked).toEqual(['three']);
  });

  test('asks for the oldest three.js that the tests run on, or newer', () => {
    const { peerDependencies, devDependencies } = JSON.parse(
      readFileSync(join(ROOT, 'package.json'), 'utf8'),
    );
    expect(peerDependencies.three.split(' ')[0]).toBe(
      devDependencies['three-oldest'].replace('npm:three@', '>='),
    );
  });

  test.runIf(THOROUGH)('type-checks in an empty app under moduleResolution nodenext', () => {
    expect(checkApp('nodenext')).toEqual([]);
  });

  test.each(entries)('%s builds with Vite and renders', async (entry) => {
    const { page, problems, close } = await packed.open(app(entry));
    try {
      const drawn = page.waitForFunction(() => document.title !== '');
      await drawn.catch((error) => problems.push(String(error)));
      expect(problems).toEqual([]);
      expect(Number(await page.title())).toBeGreaterThan(500);
    } finally {
      await close();
    }
  });
});

describe('the command', () => {
  /** What npm has put into node_modules/.bin; Windows cannot start that without a shell. */
  const command = (...args: string[]) => {
    const bin = join(packed.folder, 'node_modules/.bin/skinned-instanced-mesh');
    expect(existsSync(bin)).toBe(true);
    const { status, stdout, stderr } = spawnSync(
      process.platform === 'win32' ? process.execPath : bin,
      process.platform === 'win32' ? [join(packed.installed, 'dist/cli.js'), ...args] : args,
      { cwd: packed.folder, encoding: 'utf8' },
    );
    return { status, stdout, stderr };
  };

  test('bakes a file and looks into it, in a folder that has nothing but the package and three.js', async () => {
    await new NodeIO().write(join(packed.folder, 'arm.glb'), armDocument());
    writeFileSync(join(packed.folder, 'draco.glb'), await pyramid('draco'));
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(command('--version')).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
    expect(command('bake', 'arm.glb')).toMatchObject({ status: 2, stdout: '' });
    expect(command('bake', 'none.glb', '-o', 'out.glb')).toMatchObject({ status: 1, stdout: '' });
    for (const file of ['arm.glb', 'draco.glb']) {
      const args = ['bake', file, '-o', 'out.glb', '--levels', '0.5', '--precision', 'half', '--json'];
      const { status, stdout, stderr } = command(...args);
      expect(status, stderr).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({
        input: { file },
        output: { file: 'out.glb' },
        precision: 'half',
      });
      const inspected = command('inspect', 'out.glb', '--json');
      expect(inspected.status, inspected.stderr).toBe(0);
      expect(JSON.parse(inspected.stdout)).toMatchObject({ version: 1, characters: [{ baked: true }] });
    }
  });

  test('has the licences of what is built into it, and is small', () => {
    const dist = join(packed.installed, 'dist');
    const licences = readFileSync(join(dist, 'cli/licenses.md'), 'utf8');
    for (const name of [
      '@gltf-transform/core',
      '@gltf-transform/extensions',
      'property-graph',
      'meshoptimizer',
    ]) {
      expect(licences).toContain(name);
    }
    const kB = (file: string) => statSync(file).size / 1024;
    const files = readdirSync(join(dist, 'cli')).filter((file) => file.endsWith('.js'));
    const size = kB(join(dist, 'cli.js')) + files.reduce((sum, file) => sum + kB(join(dist, 'cli', file)), 0);
    console.log(
      `the package ${kB(packed.tarball).toFixed(0)} kB compressed, the command of that ${size.toFixed(0)} kB not compressed`,
    );
    expect(size).toBeLessThan(COMMAND_CEILING);
  });
});

/** What a page says in its title in the end. */
async function titleOf({ page, close }: OpenedApp): Promise<string> {
  await page.waitForFunction(() => document.title !== '');
  const title = await page.title();
  await close();
  return title;
}

describe('baking in a worker', () => {
  const BAKED = 'the same, workers: 1';
  const options = { logLevel: 'error', configFile: false } as const;

  test('works in what Vite builds, and in what it serves with packages bundled before', async () => {
    const built = await packed.open(WORKER, 'main.js');
    expect([await titleOf(built), built.problems]).toEqual([BAKED, []]);

    const include = ['three', 'skinned-instanced-mesh', 'skinned-instanced-mesh/worker'];
    const server = await createServer({
      ...options,
      root: packed.folder,
      server: { port: 0 },
      optimizeDeps: { include },
    });
    await server.listen();
    const { port } = server.httpServer!.address() as { port: number };
    const served = await packed.openPage(`http://localhost:${port}/`);
    expect([await titleOf(served), served.problems]).toEqual([BAKED, []]);
    const { depsOptimizer } = server.environments.client;
    expect(Object.keys(depsOptimizer?.metadata.optimized ?? {})).toEqual(expect.arrayContaining(include));
    await server.close();
  });

  test('works in a page with an import map, and in slices where the page allows no workers', async () => {
    const imports = {
      three: './node_modules/three/build/three.module.js',
      'skinned-instanced-mesh': './node_modules/skinned-instanced-mesh/dist/index.js',
      'skinned-instanced-mesh/worker': './node_modules/skinned-instanced-mesh/dist/worker.js',
    };
    const pageWith = (head: string) => `<!doctype html>${head}
      <script type="importmap">${JSON.stringify({ imports })}</script>
      <script type="module">${WORKER}</script>`;
    packed.write('worker.html', pageWith(''));
    packed.write(
      'policy.html',
      pageWith(`<meta http-equiv="Content-Security-Policy" content="worker-src 'self'">`),
    );
    const server = await preview({
      ...options,
      root: packed.folder,
      build: { outDir: '.' },
      preview: { port: 0 },
    });
    const { port } = server.httpServer.address() as { port: number };
    const plain = await packed.openPage(`http://localhost:${port}/worker.html`);
    expect([await titleOf(plain), plain.problems]).toEqual([BAKED, []]);
    const strict = await packed.openPage(`http://localhost:${port}/policy.html`);
    expect(await titleOf(strict)).toMatch('the same');
    expect(strict.problems.filter((problem) => problem.startsWith('bakeInWorker: no worker'))).toHaveLength(
      1,
    );
    await server.close();
  });
});

/** Links and pictures of a Markdown file that lead to other files or headings. */
const linksOf = (markdown: string) =>
  [...markdown.matchAll(/\]\(([^)\s]+)\)/g)]
    .filter(([, link]) => !/^https?:/.test(link))
    .map(([, link]) => {
      const [path, anchor] = link.split('#');
      return { link, path, anchor };
    });

/** Fenced blocks of a language in a Markdown file. */
const blocksOf = (markdown: string, language: string) =>
  [...markdown.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, code]) => code);

/** @param known A warning that is not ours. */
async function expectMoving({ page, problems }: OpenedApp, known?: RegExp): Promise<void> {
  await page.waitForSelector('canvas');
  const first = await page.screenshot();
  await expect.poll(async () => (await page.screenshot()).equals(first), { timeout: PATIENCE }).toBe(false);
  expect(problems.filter((problem) => !known?.test(problem))).toEqual([]);
}

/** The colour of the background. */
async function cornerOf(page: Page): Promise<number[]> {
  const png = (await page.screenshot()).toString('base64');
  return page.evaluate(async (data) => {
    const blob = await (await fetch(`data:image/png;base64,${data}`)).blob();
    const context = new OffscreenCanvas(1, 1).getContext('2d')!;
    // from the upper left, within the margin that the page has
    context.drawImage(await createImageBitmap(blob), -20, -20);
    return [...context.getImageData(0, 0, 1, 1).data];
  }, png);
}

/** In strict mode React does everything twice; without it where everything is tested. */
const STRICT = THOROUGH ? [false, true] : [true];

/** react-three-fiber makes a clock, of which three.js warns. */
const CLOCK = /THREE\.Clock/;

/** The built-in character as a file, with holes. */
async function exportCharacter(): Promise<Buffer> {
  const { page, close } = await packed.open(`
    import { AnimationClip, QuaternionKeyframeTrack } from 'three';
    import { GLTFExporter } from 'three/addons/exporters/GLTFExporter.js';
    import { createCharacter } from '${join(ROOT, 'demos/character.ts').replaceAll('\\', '/')}';
    const { root, clips } = createCharacter();
    // an eighth of its triangles, for a software renderer's sake
    const { geometry } = root.getObjectByName('Body');
    geometry.setIndex([...geometry.index.array].filter((_, i) => Math.floor(i / 3) % 8 === 0));
    // as many files have it
    const still = new AnimationClip('T-Pose', 1 / 30, [new QuaternionKeyframeTrack('Hips.quaternion', [0], [0, 0, 0, 1])]);
    const glb = await new GLTFExporter().parseAsync(root, { binary: true, animations: [...clips, still] }) as ArrayBuffer;
    let text = '';
    for (const byte of new Uint8Array(glb)) text += String.fromCharCode(byte);
    Object.assign(window, { glb: btoa(text) });
  `);
  await page.waitForFunction(() => 'glb' in window);
  const glb = await page.evaluate(() => (window as unknown as { glb: string }).glb);
  await close();
  return Buffer.from(glb, 'base64');
}

describe('the README and the guides', () => {
  const guides = join(ROOT, 'demos/guides');
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const texts = Object.fromEntries(
    readdirSync(guides).map((file) => [file, readFileSync(join(guides, file), 'utf8')]),
  );
  const everything = [readme, ...Object.values(texts)];
  const blocks = everything.flatMap((text) => blocksOf(text, 'ts'));
  const programs = blocks.filter((code) => code.includes('setAnimationLoop'));
  const snippets = blocks.filter((code) => !code.includes('setAnimationLoop'));
  const components = everything.flatMap((text) => blocksOf(text, 'tsx'));
  const componentWith = (text: string) => components.find((code) => code.includes(text))!;

  const shown = { file: 'character.glb', extensions: [], count: 9, height: 1.8, width: 1.3 };
  /** What the page for files shows: for each renderer, the second with all decoders; and what is hard to write down. */
  const codes = [
    codeFor({ ...shown, renderer: 'webgl', clips: ['Walk', 'Wave'], options: { mergeMaterials: true } }),
    codeFor({
      ...shown,
      renderer: 'webgpu',
      extensions: ['EXT_meshopt_compression', 'KHR_draco_mesh_compression', 'KHR_texture_basisu'],
      clips: ['Walk'],
      options: { encoding: 'matrix', fps: 10, skipUnsupported: true },
    }),
    codeFor({
      ...shown,
      renderer: 'webgl',
      extensions: ['SIM_baked_animation', 'EXT_meshopt_compression'],
      clips: ['Walk'],
      options: {},
    }),
    codeFor({
      ...shown,
      renderer: 'webgl',
      file: "it's #1.glb",
      extensions: ['EXT_meshopt_compression'],
      clips: [`Jane's "Idle"\n`],
      options: {},
    }),
  ];

  beforeAll(async () => {
    packed.write('public/character.glb', await exportCharacter());
    packed.write('Crowd.tsx', componentWith('createContext'));
    packed.write('Village.tsx', componentWith('function Village'));
    packed.write('Soldiers.tsx', componentWith('function Soldiers'));
  });

  test('have a whole program for each renderer, and snippets', () => {
    expect(programs).toHaveLength(2);
    expect(components).toHaveLength(4);
    expect(snippets.length).toBeGreaterThan(15);
  });

  test('programs run as they are, but for the size of the crowd, and look alike', async () => {
    const corners: number[][] = [];
    for (const program of programs) {
      expect(program).toContain('1_000');
      // a software renderer takes long over ten thousand
      const app = await packed.open(`${program.replace('1_000', '100')}\nObject.assign(window, { crowd });`);
      try {
        await expectMoving(app);
        corners.push(await cornerOf(app.page));
        const played = await app.page.evaluate(() => {
          const { crowd } = window as unknown as { crowd: { count: number; getClipAt(i: number): string } };
          return [...new Set(Array.from({ length: crowd.count }, (_, i) => crowd.getClipAt(i)))];
        });
        expect(played, 'all clips but the T-pose').toHaveLength(6);
        expect(played).not.toContain('T-Pose');
      } finally {
        await app.close();
      }
    }
    const [ofWebGL, ofWebGPU] = corners;
    expect(ofWebGPU).toEqual(ofWebGL);
  });

  test('the page without a bundler runs, with its files from here in place of the network', async () => {
    const { folder } = packed;
    packed.write('plain.html', blocksOf(readme, 'html')[0]);
    packed.write('main.js', programs[0].replace('1_000', '100'));
    cpSync(join(folder, 'public/character.glb'), join(folder, 'character.glb'));
    cpSync(join(packed.installed, 'dist'), join(folder, 'skinned-instanced-mesh'), { recursive: true });
    const server = await preview({
      root: folder,
      logLevel: 'error',
      configFile: false,
      build: { outDir: '.' },
      preview: { port: 0 },
    });
    const { port } = server.httpServer.address() as { port: number };
    const app = await packed.openPage(`http://localhost:${port}/plain.html`, (page) =>
      page.route('https://cdn.jsdelivr.net/npm/**', (route) => {
        const { pathname } = new URL(route.request().url());
        const [, name, file] = pathname.match(/npm\/([^@]+)@[^/]+\/(.*)/) ?? [];
        return route.fulfill({ path: join(folder, 'node_modules', name, file) });
      }),
    );
    await expectMoving(app).finally(app.close);
    await server.close();
  });

  test('the code that the file page shows runs as it is', async () => {
    for (const code of codes.slice(0, 2)) {
      const app = await packed.open(code);
      await expectMoving(app).finally(app.close);
    }
  });

  test('snippets type-check, the code of the file page and an empty app too, under moduleResolution bundler', () => {
    const files = snippets.map((code, i) => {
      const file = `snippet${i}.ts`;
      packed.write(file, code.includes('import ') ? code : withNames(code));
      return file;
    });
    components.forEach((code, i) => {
      packed.write(`component${i}.tsx`, code);
      files.push(`component${i}.tsx`);
    });
    codes.forEach((code, i) => {
      packed.write(`shown${i}.ts`, code);
      files.push(`shown${i}.ts`);
    });
    // in one go with the app under this moduleResolution: the compiler takes long over three.js's types
    expect(checkApp('bundler', files)).toEqual([]);
  });

  test('materials of the guides draw crowds, without a warning', async () => {
    const ofWebGL = blocksOf(texts['materials.md'], 'ts').filter((code) => code.includes('const material'));
    const ofWebGPU = blocksOf(texts['webgpu.md'], 'ts').filter((code) => code.includes('const material'));
    expect([ofWebGL.length, ofWebGPU.length]).toEqual([3, 3]);
    for (const [entry, codes] of [
      ['skinned-instanced-mesh', ofWebGL],
      ['skinned-instanced-mesh/webgpu', ofWebGPU],
    ] as const) {
      const { page, problems, close } = await packed.open(drawAll(entry, codes));
      const drawn = page.waitForFunction(() => document.title !== '');
      await drawn.catch((error) => problems.push(String(error)));
      await close();
      expect(problems).toEqual([]);
    }
  });

  test('the component for react-three-fiber runs, in strict mode too', async () => {
    for (const strict of STRICT) {
      const code = strict
        ? components[0]
            .replace('render(\n', 'render(<StrictMode>\n')
            .replace('</Canvas>,', '</Canvas></StrictMode>,')
        : components[0];
      const app = await packed.open(
        strict ? `import { StrictMode } from 'react';\n${code}` : code,
        'main.tsx',
      );
      await expectMoving(app, CLOCK).finally(app.close);
      expect(code.includes('<StrictMode>')).toBe(strict);
    }
  });

  test('the element for react-three-fiber draws, and is gone when it goes', async () => {
    const app = await packed.open(SOLDIERS, 'main.tsx');
    await expectMoving(app, CLOCK);
    await app.page.evaluate(() => dispatchEvent(new Event('leave')));
    await app.page.waitForFunction(() => document.title === 'disposed');
    expect(app.problems.filter((problem) => !CLOCK.test(problem))).toEqual([]);
    await app.close();
  });

  test('the components for characters come, are clicked and go, in strict mode too', async () => {
    for (const strict of STRICT) {
      const app = await packed.open(
        strict ? VILLAGE.replace('<Place />', '<StrictMode><Place /></StrictMode>') : VILLAGE,
        'main.tsx',
      );
      await expectMoving(app, CLOCK);
      const told = (text: string) => app.page.waitForFunction((wanted) => document.title === wanted, text);
      await told('3 instances: Walk, Walk, Walk');
      await app.page.mouse.click(200, 110);
      await told('3 instances: Walk, Wave, Walk');
      await app.page.evaluate(() => dispatchEvent(new Event('leave')));
      await told('disposed with 0 instances');
      expect(app.problems.filter((problem) => !CLOCK.test(problem))).toEqual([]);
      await app.close();
    }
  });

  test('links lead to files and headings that are there', () => {
    const files = [
      'README.md',
      '.github/CONTRIBUTING.md',
      ...Object.keys(texts).map((file) => `demos/guides/${file}`),
    ];
    const dead: string[] = [];
    for (const file of files) {
      const text = readFileSync(join(ROOT, file), 'utf8');
      for (const { link, path, anchor } of linksOf(text)) {
        const target = path === '' ? file : join(file, '..', path);
        if (!existsSync(join(ROOT, target))) dead.push(`${file}: ${link}`);
        else if (anchor && !headings(readFileSync(join(ROOT, target), 'utf8')).includes(anchor))
          dead.push(`${file}: ${link}`);
      }
    }
    expect(dead).toEqual([]);
  });

  test('headings have no code, which the documentation leaves out of its lists of them', () => {
    for (const text of everything) {
      const prose = text.replace(/```.*?```/gs, '');
      expect(prose.match(/^#+ .*`.*$/gm) ?? []).toEqual([]);
    }
  });

  test('commands that are named are there', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    for (const text of everything) {
      for (const [, script] of text.matchAll(/npm run ([\w:]+)/g)) expect(scripts).toHaveProperty(script);
      for (const [, path] of text.matchAll(/npm test -- (tests\/[\w/-]+)/g)) {
        const found = [path, `${path}.test.ts`].some((one) => existsSync(join(ROOT, one)));
        expect(found, path).toBe(true);
      }
    }
  });
});

/** A page that shows the guide's second component, until it is told to leave. */
const SOLDIERS = `
import { Canvas, useFrame, useThree } from '@react-three/fiber';
import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { BoneTexture } from 'skinned-instanced-mesh';
import { createCharacter } from '${join(ROOT, 'demos/character.ts').replaceAll('\\', '/')}';
import { Soldiers } from './Soldiers';

const { root, clips } = createCharacter();
const body = root.getObjectByName('Body');
// a thirtieth of its triangles, for a software renderer's sake
body.geometry.setIndex([...body.geometry.index.array].filter((_, i) => Math.floor(i / 3) % 30 === 0));
const boneTexture = BoneTexture.bake(root, clips);

function Company() {
  const [here, setHere] = useState(true);
  const scene = useThree((state) => state.scene);
  useEffect(() => addEventListener('leave', () => {
    const crowd = scene.children.find((child) => child.isSkinnedInstancedMesh);
    if (crowd.count !== 200 || !crowd.castShadow) throw new Error('props were not set');
    crowd.addEventListener('dispose', () => { document.title = 'disposed'; });
    setHere(false);
  }), []);
  useFrame(({ scene }, delta) => {
    for (const child of scene.children) child.update?.(delta);
  });
  return here ? <Soldiers geometry={body.geometry} material={body.material} boneTexture={boneTexture} /> : null;
}

createRoot(document.body.appendChild(document.createElement('div'))).render(
  <Canvas style={{ position: 'fixed', inset: 0 }}>
    <hemisphereLight intensity={3} />
    <Company />
  </Canvas>,
);
`;

/** A page that shows the guide's village, tells in its title what its characters do, and empties it when it is told to. */
const VILLAGE = `
import { Canvas, useFrame } from '@react-three/fiber';
import { StrictMode, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { createCharacter } from '${join(ROOT, 'demos/character.ts').replaceAll('\\', '/')}';
import { Village } from './Village';

const { root, clips } = createCharacter({ detail: 0.3 });

function Place() {
  const [here, setHere] = useState(true);
  useEffect(() => addEventListener('leave', () => setHere(false)), []);
  useFrame(({ scene }) => {
    const crowd = scene.children.find((child) => child.isSkinnedInstancedMesh);
    if (!crowd) return;
    if (!crowd.hasEventListener('dispose', gone)) crowd.addEventListener('dispose', gone);
    const all = Array.from({ length: crowd.count }, (_, i) => crowd.getClipAt(i));
    document.title = crowd.instanceCount + ' instances: ' + all.join(', ');
  });
  return here ? <Village root={root} clips={clips} /> : null;
}

function gone({ target }) {
  document.title = 'disposed with ' + target.instanceCount + ' instances';
}

createRoot(document.body.appendChild(document.createElement('div'))).render(
  <Canvas style={{ position: 'fixed', inset: 0 }} camera={{ position: [0, 1.2, 6] }}>
    <hemisphereLight intensity={3} />
    <Place />
  </Canvas>,
);
`;

/** Anchors of a Markdown file's headings, as GitHub and TypeDoc make them. */
const headings = (markdown: string) =>
  [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, text]) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

/** A snippet with what it takes for granted. */
function withNames(code: string): string {
  const declared = {
    crowd: 'SkinnedInstancedMesh',
    material: 'Material',
    matrix: 'Matrix4',
    boneTexture: 'BoneTexture',
    target: 'Vector3',
    knight: 'SkinnedInstance',
    lean: 'Quaternion',
    aims: 'Quaternion[]',
    ragdoll: 'Object3D',
    MeshoptEncoder: "import('skinned-instanced-mesh/files').MeshoptEncoderLike",
    MeshoptSimplifier: "import('skinned-instanced-mesh').Simplifier & { ready: Promise<void> }",
  };
  const names = Object.entries(declared)
    .filter(([name]) => !new RegExp(`const ${name}\\b`).test(code))
    .map(([name, type]) => `declare const ${name}: ${type};\nvoid ${name};`);
  return `
import { type AnimationAction, AnimationClip, AnimationMixer, AnimationUtils, type BufferGeometry, Color, InterpolateLinear,
  type KeyframeTrack, LoopOnce, type Material, Matrix4, Mesh, MeshDepthMaterial, MeshStandardMaterial, type Object3D,
  PropertyBinding, type Quaternion, RGBADepthPacking, type Scene, ShaderMaterial, SkeletonHelper, type SkinnedMesh, type Texture, Vector2,
  Vector3 } from 'three';
import * as SkeletonUtils from 'three/addons/utils/SkeletonUtils.js';
import type { GLTF } from 'three/addons/loaders/GLTFLoader.js';
import type { SkinnedInstance } from 'skinned-instanced-mesh/objects';
import { BoneTexture, SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import { bakedCharactersOf, readBoneTexture, writeBoneTexture } from 'skinned-instanced-mesh/files';
declare const gltf: GLTF, root: Object3D, coarseRoot: Object3D, farRoot: Object3D, clips: AnimationClip[], delta: number, scene: Scene;
declare const offsetMatrix: Matrix4, swordGeometry: BufferGeometry, coarseSwordGeometry: BufferGeometry, nameplate: BufferGeometry, swordMaterial: Material, otherMaterial: Material, leaves: Texture;
declare function strike(index: number): void;
type Named = [AnimationAction, KeyframeTrack, Quaternion, SkinnedMesh];
void [bakedCharactersOf, readBoneTexture, writeBoneTexture, Mesh, nameplate, AnimationClip, AnimationMixer, AnimationUtils, Color, InterpolateLinear, LoopOnce, Matrix4, PropertyBinding, Vector3, {} as Named, MeshDepthMaterial, MeshStandardMaterial, RGBADepthPacking, ShaderMaterial, SkeletonHelper,
  Vector2, SkeletonUtils, BoneTexture, SkinnedInstancedMesh, gltf, root, coarseRoot, farRoot, coarseSwordGeometry, clips, delta, scene, offsetMatrix,
  swordGeometry, swordMaterial, otherMaterial, leaves, strike];
${names.join('\n')}
${code}
export {};
`;
}

/** A page that draws a crowd in each of some materials, of which it says in its title how many drew something. */
function drawAll(entry: keyof typeof RENDERERS, snippets: string[]): string {
  const imports = new Set(snippets.flatMap((code) => code.match(/^import .*$/gm) ?? []));
  const bodies = snippets.map(
    (code) => `{
    const crowd = SkinnedInstancedMesh.from(root, [clip], 100, { uniforms: { dirt: 'float', swell: 'float' } });
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

describe('tree shaking', () => {
  /** Tests compare what they add with the same main entry. */
  const bundles = new Map<string, Promise<string>>();

  /** @param small Without white space too, which Vite leaves in libraries. */
  const bundle = (code: string, small = false) => {
    const key = `${small} ${code}`;
    const known = bundles.get(key) ?? makeBundle(code, small);
    bundles.set(key, known);
    return known;
  };

  const makeBundle = async (code: string, small: boolean) => {
    const entry = join(packed.folder, 'entry.js');
    packed.write('entry.js', code);
    const result = await build({
      root: packed.folder,
      logLevel: 'error',
      configFile: false,
      build: {
        write: false,
        minify: true,
        lib: { entry, formats: ['es'], fileName: 'out' },
        rollupOptions: { external: [/^three($|\/)/], ...(small && { output: { minify: true } }) },
      },
    });
    const [{ output }] = result as unknown as { output: { code: string }[] }[];
    return output.map((chunk) => chunk.code).join('\n');
  };

  test('the main entry does not load node materials', async () => {
    const code = await bundle(`export * from 'skinned-instanced-mesh';`);
    expect(code).not.toMatch(/three\/(webgpu|tsl)/);
  });

  test('both entries share one class, and using it from ./webgpu makes the node materials known', async () => {
    const code = await bundle(`
      import { SkinnedInstancedMesh as A } from 'skinned-instanced-mesh';
      import { SkinnedInstancedMesh as B } from 'skinned-instanced-mesh/webgpu';
      globalThis.same = A === B;`);
    expect(
      code.match(/extends InstancedMesh|extends \w+\s*\{[^}]*isSkinnedInstancedMesh/g)?.length ?? 1,
    ).toBe(1);
    const used = await bundle(`
      import { SkinnedInstancedMesh } from 'skinned-instanced-mesh/webgpu';
      globalThis.Crowd = SkinnedInstancedMesh;`);
    expect(used).toContain('three/tsl');
  });

  test.each([
    ...entries,
    'skinned-instanced-mesh/worker',
    'skinned-instanced-mesh/motion',
    'skinned-instanced-mesh/vertex-textures',
    'skinned-instanced-mesh/vertex-textures/webgpu',
  ])('sideEffects: false is true of %s', async (entry) => {
    // A copy without that field: where it stands, bundlers drop what is unused without a look at the code.
    const { installed } = packed;
    const unmarked = join(packed.folder, 'node_modules/unmarked');
    cpSync(join(installed, 'dist'), join(unmarked, 'dist'), { recursive: true });
    const { exports } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    writeFileSync(
      join(unmarked, 'package.json'),
      JSON.stringify({ name: 'unmarked', type: 'module', exports }),
    );
    const code = await bundle(`import '${entry.replace('skinned-instanced-mesh', 'unmarked')}';`);
    expect(code.replace(/import\s*["']three(\/\w+)?["'];?/g, '').trim()).toBe('');
  });

  test('procedural motion is there for those who import it, and no one else', async () => {
    const main = await bundle(`export * from 'skinned-instanced-mesh';`, true);
    expect(main).not.toMatch(/turbulence|worldMatrix/);
    const both = await bundle(
      `export * from 'skinned-instanced-mesh'; export * from 'skinned-instanced-mesh/motion';`,
      true,
    );
    expect(both).not.toMatch(/three\/(webgpu|tsl)/);
    const size = (gzipSync(both).length - gzipSync(main).length) / 1024;
    console.log(`procedural motion adds ${size.toFixed(1)} kB compressed`);
    expect(size).toBeLessThan(MOTION_CEILING);
  });

  test('a bone texture can be baked without the mesh', async () => {
    const code = await bundle(
      `import { BoneTexture } from 'skinned-instanced-mesh'; globalThis.bake = BoneTexture.bake;`,
    );
    expect(code).toContain('BoneTexture.bake');
    expect(code).not.toContain('extends InstancedMesh');
    expect(code).not.toContain('skinningMatrix');
  });

  test('instances as objects are there for those who import them, and no one else', async () => {
    const main = await bundle(`export * from 'skinned-instanced-mesh';`, true);
    expect(main).not.toMatch(/isSkinnedInstance\b/);
    const used = await bundle(`
      import { SkinnedInstancedMesh } from 'skinned-instanced-mesh';
      import 'skinned-instanced-mesh/objects';
      globalThis.Crowd = SkinnedInstancedMesh;`);
    expect(used).toMatch(/isSkinnedInstance\b/);
    const both = await bundle(
      `export * from 'skinned-instanced-mesh'; export * from 'skinned-instanced-mesh/objects';`,
      true,
    );
    const size = (gzipSync(both).length - gzipSync(main).length) / 1024;
    console.log(`instances as objects add ${size.toFixed(1)} kB compressed`);
    expect(size).toBeLessThan(OBJECTS_CEILING);
  });

  test('baking in a worker is there for those who import it, and no one else', async () => {
    const main = await bundle(`export * from 'skinned-instanced-mesh';`, true);
    expect(main).not.toContain('bakeInWorker');
    const both = await bundle(
      `export * from 'skinned-instanced-mesh'; export { bakeInWorker } from 'skinned-instanced-mesh/worker';`,
      true,
    );
    const size = (gzipSync(both).length - gzipSync(main).length) / 1024;
    console.log(`baking in a worker adds ${size.toFixed(1)} kB compressed`);
    expect(size).toBeLessThan(WORKER_CEILING);
  });

  test('baked files are read and written by who imports that, and no one else', async () => {
    const main = await bundle(`export * from 'skinned-instanced-mesh';`, true);
    expect(main).not.toContain('bufferViews');
    const both = await bundle(
      `export * from 'skinned-instanced-mesh'; export * from 'skinned-instanced-mesh/files';`,
      true,
    );
    const added = (gzipSync(both).length - gzipSync(main).length) / 1024;
    const reading = await bundle(
      `export * from 'skinned-instanced-mesh'; export { SkinnedInstancedMeshExtension } from 'skinned-instanced-mesh/files';`,
      true,
    );
    const plugin = (gzipSync(reading).length - gzipSync(main).length) / 1024;
    console.log(
      `baked files add ${added.toFixed(1)} kB compressed, the plugin alone ${plugin.toFixed(1)} kB`,
    );
    expect(plugin).toBeLessThan(added);
    expect(added).toBeLessThan(FILES_CEILING);
  });

  test.each(Object.entries(VERTEX_CEILINGS))('vertex textures%s add little', async (entry, ceiling) => {
    const main = await bundle(`export * from 'skinned-instanced-mesh${entry}';`, true);
    expect(main).not.toMatch(/isVertexTexture\b/);
    const both = await bundle(
      `export * from 'skinned-instanced-mesh${entry}'; export { VertexTexture } from 'skinned-instanced-mesh/vertex-textures${entry}';`,
      true,
    );
    expect(both).toMatch(/isVertexTexture\b/);
    const size = (gzipSync(both).length - gzipSync(main).length) / 1024;
    console.log(`vertex textures${entry} add ${size.toFixed(1)} kB compressed`);
    expect(size).toBeLessThan(ceiling);
  });

  test.each(Object.entries(CEILINGS))('%s stays below its ceiling of %i kB', async (entry, ceiling) => {
    const code = await bundle(`export * from '${entry}';`, true);
    const size = gzipSync(code).length / 1024;
    console.log(`${entry}: ${(code.length / 1024).toFixed(1)} kB minified, ${size.toFixed(1)} kB compressed`);
    expect(size).toBeLessThan(ceiling);
  });
});
