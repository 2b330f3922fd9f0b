import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright';
import { publint } from 'publint';
import { build, preview } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browserFlags } from '../setup/browserFlags.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Kilobytes of each entry, minified and compressed, that it may not grow beyond unnoticed. */
const CEILINGS: Record<string, number> = {
  'skinned-instanced-mesh': 38,
  'skinned-instanced-mesh/webgpu': 42,
};

let folder: string;
let tarball: string;

const run = (command: string, args: string[], cwd: string) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** npm by its script where npm started the tests: Node refuses to start npm.cmd, which it is on Windows. */
const npm = (args: string[], cwd: string) => {
  const script = process.env.npm_execpath;
  return script ? run(process.execPath, [script, ...args], cwd) : run('npm', args, cwd);
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sim-package-'));
  npm(['run', 'build:lib'], root);
  const [{ filename }] = JSON.parse(
    npm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder], root),
  );
  tarball = join(folder, filename);

  // An empty app: the tarball installed by npm, what we develop with linked in, so that no network is needed.
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'app', private: true, type: 'module' }));
  npm(
    ['install', '--offline', '--no-audit', '--no-fund', '--legacy-peer-deps', '--no-save', tarball],
    folder,
  );
  mkdirSync(join(folder, 'node_modules', '@types'), { recursive: true });
  for (const name of [
    'three',
    '@types/three',
    '@types/webxr',
    '@types/stats.js',
    '@webgpu/types',
    'meshoptimizer',
    'fflate',
  ]) {
    try {
      mkdirSync(join(folder, 'node_modules', name, '..'), { recursive: true });
      symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name), 'junction');
    } catch {
      // not every version of @types/three needs all of them
    }
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

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

describe('the packed tarball', () => {
  test('holds what users need and nothing else', () => {
    const files = readdirSync(join(folder, 'node_modules/skinned-instanced-mesh'));
    expect(files.sort()).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'dist', 'package.json'].sort());
  });

  test('passes publint', async () => {
    const { messages } = await publint({
      pkgDir: join(folder, 'node_modules/skinned-instanced-mesh'),
      strict: true,
    });
    expect(messages).toEqual([]);
  });

  test('holds no copy of three.js, and asks for it as a peer', () => {
    const dist = join(folder, 'node_modules/skinned-instanced-mesh/dist');
    const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.js'),
    );
    const code = files.map((file) => readFileSync(join(dist, file), 'utf8')).join('\n');
    expect(code).toMatch(/from ["']three["']/);
    expect(code).not.toContain('class Object3D');
    const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(dependencies).toBe(undefined);
    expect(Object.keys(peerDependencies)).toEqual(['three']);
  });

  test('asks for the oldest three.js that the tests run on, or newer', () => {
    const { peerDependencies, devDependencies } = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8'),
    );
    expect(peerDependencies.three.split(' ')[0]).toBe(
      devDependencies['three-oldest'].replace('npm:three@', '>='),
    );
  });

  test.each(['bundler', 'nodenext'])(
    'type-checks in an empty app under moduleResolution %s',
    (resolution) => {
      writeFileSync(join(folder, 'main.ts'), app('skinned-instanced-mesh'));
      writeFileSync(join(folder, 'nodes.ts'), NODES);
      const ours = typeErrors(['main.ts', 'nodes.ts'], resolution, [
        'skinned-instanced-mesh',
        'main.ts',
        'nodes.ts',
      ]);
      expect(ours).toEqual([]);
    },
  );

  test.each(entries)('%s builds with Vite and renders', async (entry) => {
    const { page, problems, close } = await openApp(app(entry));
    try {
      const drawn = page.waitForFunction(() => document.title !== '', undefined, { timeout: 15_000 });
      await drawn.catch((error) => problems.push(String(error)));
      expect(problems).toEqual([]);
      expect(Number(await page.title())).toBeGreaterThan(500);
    } finally {
      await close();
    }
  });
});

/** What the compiler says of files in the app that names one of `ours`: errors inside of @types/three are not ours. */
function typeErrors(files: string[], resolution: string, ours: string[]): string[] {
  const compilerOptions = {
    strict: true,
    target: 'es2022',
    noEmit: true,
    skipLibCheck: false,
    types: [],
    module: resolution === 'nodenext' ? 'nodenext' : 'esnext',
    moduleResolution: resolution,
    lib: ['es2022', 'dom', 'dom.iterable'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const tsc = createRequire(import.meta.url)
    .resolve('typescript/package.json')
    .replace('package.json', 'bin/tsc');
  let output = '';
  try {
    run(process.execPath, [tsc, '-p', '.'], folder);
  } catch (error) {
    output = String((error as { stdout: string }).stdout);
    expect(output, 'the compiler ran').toContain('error TS');
  }
  return output.split('\n').filter((line) => ours.some((name) => line.includes(name)));
}

/** Builds a page of one module in the app, and opens it. */
async function openApp(code: string) {
  writeFileSync(join(folder, 'index.html'), '<!doctype html><script type="module" src="/main.ts"></script>');
  writeFileSync(join(folder, 'main.ts'), code);
  const target = 'es2022'; // top-level await
  await build({ root: folder, logLevel: 'error', configFile: false, build: { target } });
  const server = await preview({ root: folder, logLevel: 'error', configFile: false, preview: { port: 0 } });
  const browser = await chromium.launch({ executablePath: process.env.SIM_BROWSER, args: browserFlags });
  const page = await browser.newPage({ viewport: { width: 400, height: 300 } });
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    const text = message.text();
    if (['error', 'warning'].includes(message.type()) && !/GPU stall|favicon|404/.test(text))
      problems.push(text);
  });
  const address = server.httpServer.address() as { port: number };
  await page.goto(`http://localhost:${address.port}/`);
  const close = async () => {
    await browser.close();
    await server.close();
  };
  return { page, problems, close };
}

describe('the README', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const blocks = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code);
  const programs = blocks.filter((code) => code.includes('setAnimationLoop'));
  const snippets = blocks.filter((code) => !code.includes('setAnimationLoop'));

  test('has a whole program for each renderer, and snippets', () => {
    expect(programs).toHaveLength(2);
    expect(snippets.length).toBeGreaterThan(5);
  });

  test('programs run as they are, but for the size of the crowd', async () => {
    const exporting = await openApp(`
      import { GLTFExporter } from 'three/addons/exporters/GLTFExporter.js';
      import { createCharacter } from '${join(root, 'demos/character.ts').replaceAll('\\', '/')}';
      const { root, clips } = createCharacter();
      const glb = await new GLTFExporter().parseAsync(root, { binary: true, animations: clips }) as ArrayBuffer;
      let text = '';
      for (const byte of new Uint8Array(glb)) text += String.fromCharCode(byte);
      Object.assign(window, { glb: btoa(text) });
    `);
    await exporting.page.waitForFunction(() => 'glb' in window);
    const glb = await exporting.page.evaluate(() => (window as unknown as { glb: string }).glb);
    await exporting.close();
    mkdirSync(join(folder, 'public'), { recursive: true });
    writeFileSync(join(folder, 'public/character.glb'), Buffer.from(glb, 'base64'));

    for (const program of programs) {
      expect(program).toContain('10_000');
      // a software renderer takes long over ten thousand
      const { page, problems, close } = await openApp(program.replace('10_000', '100'));
      try {
        await page.waitForSelector('canvas');
        const first = await page.screenshot();
        await expect
          .poll(async () => (await page.screenshot()).equals(first), { timeout: 20_000 })
          .toBe(false);
        await page.waitForTimeout(500);
        expect(problems).toEqual([]);
      } finally {
        await close();
      }
    }
  }, 90_000);

  test('the page without a bundler runs, with its files from here in place of the network', async () => {
    const [, html] = readme.match(/```html\n(.*?)```/s) as RegExpMatchArray;
    const server = await preview({
      root: folder,
      logLevel: 'error',
      configFile: false,
      build: { outDir: '.' },
      preview: { port: 0 },
    });
    writeFileSync(join(folder, 'plain.html'), html);
    writeFileSync(join(folder, 'main.js'), programs[0].replace('10_000', '100'));
    cpSync(join(folder, 'public/character.glb'), join(folder, 'character.glb'));
    const browser = await chromium.launch({ executablePath: process.env.SIM_BROWSER, args: browserFlags });
    try {
      const page = await browser.newPage({ viewport: { width: 400, height: 300 } });
      const problems: string[] = [];
      page.on('pageerror', (error) => problems.push(String(error)));
      await page.route('https://cdn.jsdelivr.net/npm/**', (route) => {
        const [, name, file] =
          new URL(route.request().url()).pathname.match(/npm\/([^@]+)@[^/]+\/(.*)/) ?? [];
        return route.fulfill({ path: join(folder, 'node_modules', name, file) });
      });
      const { port } = server.httpServer.address() as { port: number };
      await page.goto(`http://localhost:${port}/plain.html`);
      await page.waitForSelector('canvas');
      const first = await page.screenshot();
      await expect.poll(async () => (await page.screenshot()).equals(first), { timeout: 20_000 }).toBe(false);
      expect(problems).toEqual([]);
    } finally {
      await browser.close();
      await server.close();
    }
  }, 60_000);

  test('snippets type-check', () => {
    const known = `
import { type AnimationClip, type BufferGeometry, Color, LoopOnce, type Material, Matrix4, type Object3D, Vector2 } from 'three';
import type { GLTF } from 'three/addons/loaders/GLTFLoader.js';
import { SkinnedInstancedMesh } from 'skinned-instanced-mesh';
declare const gltf: GLTF, root: Object3D, clips: AnimationClip[], delta: number, matrix: Matrix4, offsetMatrix: Matrix4;
declare const swordGeometry: BufferGeometry, swordMaterial: Material;
declare function strike(index: number): void;
void [Color, LoopOnce, Matrix4, Vector2, SkinnedInstancedMesh, gltf, root, clips, delta, matrix, offsetMatrix, swordGeometry,
  swordMaterial, strike];
`;
    const files = snippets.map((code, i) => {
      const own = code.includes('import ');
      const crowd = /const crowd\b/.test(code)
        ? ''
        : 'declare const crowd: SkinnedInstancedMesh;\nvoid crowd;\n';
      const file = `snippet${i}.ts`;
      writeFileSync(join(folder, file), own ? code : `${known}${crowd}${code}\nexport {};\n`);
      return file;
    });
    expect(typeErrors(files, 'bundler', files)).toEqual([]);
  });
});

describe('tree shaking', () => {
  const bundle = async (code: string) => {
    const entry = join(folder, 'entry.js');
    writeFileSync(entry, code);
    const result = await build({
      root: folder,
      logLevel: 'error',
      configFile: false,
      build: {
        write: false,
        minify: true,
        lib: { entry, formats: ['es'], fileName: 'out' },
        rollupOptions: { external: [/^three($|\/)/] },
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

  test.each(entries)('sideEffects: false is true of %s', async (entry) => {
    // A copy without that field: where it stands, bundlers drop what is unused without a look at the code.
    const installed = join(folder, 'node_modules/skinned-instanced-mesh');
    const unmarked = join(folder, 'node_modules/unmarked');
    cpSync(join(installed, 'dist'), join(unmarked, 'dist'), { recursive: true });
    const { exports } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    writeFileSync(
      join(unmarked, 'package.json'),
      JSON.stringify({ name: 'unmarked', type: 'module', exports }),
    );
    const code = await bundle(`import '${entry.replace('skinned-instanced-mesh', 'unmarked')}';`);
    expect(code.replace(/import\s*["']three(\/\w+)?["'];?/g, '').trim()).toBe('');
  });

  test('a bone texture can be baked without the mesh', async () => {
    const code = await bundle(
      `import { BoneTexture } from 'skinned-instanced-mesh'; globalThis.bake = BoneTexture.bake;`,
    );
    expect(code).toContain('BoneTexture.bake');
    expect(code).not.toContain('extends InstancedMesh');
    expect(code).not.toContain('skinningMatrix');
  });

  test.each(Object.entries(CEILINGS))('%s stays below its ceiling of %i kB', async (entry, ceiling) => {
    const code = await bundle(`export * from '${entry}';`);
    const size = gzipSync(code).length / 1024;
    console.log(`${entry}: ${(code.length / 1024).toFixed(1)} kB minified, ${size.toFixed(1)} kB compressed`);
    expect(size).toBeLessThan(ceiling);
  });
});
