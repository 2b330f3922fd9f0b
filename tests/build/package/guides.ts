import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { AnimationClip, type Mesh, QuaternionKeyframeTrack } from 'three';
import { beforeAll, describe, expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { codeFor } from '../../../demos/file/codeFor.js';
import { exportGlb } from '../../support/exportGlb.js';
import { ROOT } from '../../support/PackedApp.js';
import { PATIENCE } from '../../support/patience.js';
import { NIGHTLY, THOROUGH } from '../../support/thorough.js';
import { checkApp, drawAll } from './apps.js';
import { ENEMIES, SOLDIERS } from './components.js';
import { blocksOf, headings, linksOf } from './markdown.js';
import { packed } from './packed.js';
import { cornerOf, expectMoving } from './shownPages.js';
import { withNames } from './withNames.js';

/** react-three-fiber makes a clock, and names a kind of shadows, of which three.js warns. */
const CLOCK = /THREE\.Clock|PCFSoftShadowMap/;

/** The built-in character as a file, with holes. */
async function exportCharacter(): Promise<Buffer> {
  const { root, clips } = createCharacter();
  // an eighth of its triangles, for a software renderer's sake
  const { geometry } = root.getObjectByName('Body') as Mesh;
  geometry.setIndex([...(geometry.index?.array ?? [])].filter((_, i) => Math.floor(i / 3) % 8 === 0));
  // as many files have it
  const still = new QuaternionKeyframeTrack('Hips.quaternion', [0], [0, 0, 0, 1]);
  return Buffer.from(await exportGlb(root, [...clips, new AnimationClip('T-Pose', 1 / 30, [still])]));
}

/** @param diff Lines to take out, each followed by those that take its place. */
function withChanges(code: string, diff: string): string {
  const changes = diff.split(/^-/m).slice(1);
  return changes.reduce((changed, change) => {
    const [line, ...others] = change.trimEnd().split('\n+');
    expect(changed).toContain(`${line}\n`);
    return changed.replace(`${line}\n`, others.map((other) => `${other}\n`).join(''));
  }, code);
}

describe('the README and the guides', () => {
  const guides = join(ROOT, 'demos/guides');
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const texts = Object.fromEntries(
    readdirSync(guides).map((file) => [file, readFileSync(join(guides, file), 'utf8')]),
  );
  const everything = [readme, ...Object.values(texts)];
  /** All that is looked at for links and commands, by path. */
  const pages = Object.fromEntries(
    [
      'README.md',
      'CHANGELOG.md',
      '.github/CONTRIBUTING.md',
      ...Object.keys(texts).map((file) => `demos/guides/${file}`),
    ].map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]),
  );
  const blocks = everything
    .filter((text) => text !== texts['game.md'])
    .flatMap((text) => blocksOf(text, 'ts'));
  const whole = blocks.filter((code) => code.includes('setAnimationLoop'));
  const program = whole.find((code) => !code.includes('GPUInstances'))!;
  const swarm = whole.find((code) => code.includes('GPUInstances'))!;
  const game = blocksOf(texts['game.md'], 'ts').join('');
  const programs = [program, withChanges(program, blocksOf(texts['start.md'], 'diff')[0])];
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
      options: { encoding: 'frames', fps: 10, skipUnsupported: true },
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
    packed.write('Soldiers.tsx', componentWith('function Soldiers'));
  });

  test('have a whole program, the lines that another renderer changes, and snippets', () => {
    expect(whole).toHaveLength(2);
    expect(programs[1]).toContain('new WebGPURenderer');
    expect(components).toHaveLength(2);
    expect(snippets.length).toBeGreaterThan(15);
  });

  test('programs run as they are, but for the size of the crowd, and look alike', async () => {
    const corners: number[][] = [];
    for (const code of programs) {
      expect(code).toContain('1_000');
      // a software renderer takes long over ten thousand
      const app = await packed.open(`${code.replace('1_000', '20')}\nObject.assign(window, { crowd });`);
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

  test('the first snippets of the README run, one after the other', async () => {
    const [hello, then] = blocksOf(readme, 'ts');
    // the names that this character has
    const code = `${hello}\n${then}`
      .replace('Running', 'Run')
      .replace('Palm2R', 'RightHand')
      .replace('1_000', '20');
    const app = await packed.open(`
      import { BoxGeometry, Color, HemisphereLight, LoopOnce, MeshBasicMaterial, PerspectiveCamera, Raycaster, Scene, WebGLRenderer } from 'three';
      import { JointAttachment } from 'skinned-instanced-mesh';
      const renderer = new WebGLRenderer();
      document.body.append(renderer.domElement);
      const [scene, delta, raycaster] = [new Scene().add(new HemisphereLight()), 0.1, new Raycaster()];
      const [swordGeometry, swordMaterial] = [new BoxGeometry(0.1, 0.1, 1), new MeshBasicMaterial()];
      ${code}
      const camera = new PerspectiveCamera(60, 2, 0.1, 200);
      camera.position.set(40, 12, 20);
      camera.lookAt(40, 0, 0);
      renderer.setAnimationLoop(() => {
        crowd.update(0.05);
        renderer.render(scene, camera);
      });`);
    await expectMoving(app).finally(app.close);
  });

  test('the swarm that lives on the GPU runs as it is, but for its size, in at most 60 lines', async () => {
    expect(swarm.trimEnd().split('\n').length).toBeLessThanOrEqual(60);
    const app = await packed.open(swarm.replace('10_000', '20'));
    await expectMoving(app).finally(app.close);
  });

  test('the blocks of the tutorial are one program, a game that is played, saved and loaded', async () => {
    expect(game.trimEnd().split('\n').length).toBeLessThanOrEqual(210);
    for (const file of ['knight.glb', 'rogue.glb'])
      cpSync(join(ROOT, 'demos/art', file), join(packed.folder, 'public', file));
    const app = await packed.open(game.replace('COUNT = 60', 'COUNT = 3'));
    const { page } = app;
    const fallen = async () => Number((await page.title()).match(/(\d+) fallen/)?.[1] ?? -1);
    await page.keyboard.down('w');
    await expectMoving(app);
    await page.keyboard.up('w');
    await page.keyboard.down(' ');
    await expect.poll(fallen, { timeout: PATIENCE }).toBeGreaterThan(0);
    await page.keyboard.press('k');
    const saved = await page.evaluate(() => JSON.parse(localStorage.getItem('game')!).fallen);
    await expect.poll(fallen, { timeout: PATIENCE }).toBeGreaterThan(saved);
    await page.keyboard.up(' ');
    await page.keyboard.press('l');
    await expect.poll(fallen, { timeout: PATIENCE }).toBe(saved);
    expect(app.problems).toEqual([]);
    await app.close();
  });

  test('the demo of the game has the blocks of the tutorial, in at most 250 lines', () => {
    const demo = readFileSync(join(ROOT, 'demos/game/main.ts'), 'utf8');
    expect(demo.split('\n').length).toBeLessThanOrEqual(250);
    // all but the stage, the loading and the loop, which the gallery has of its own
    const own = /new WebGLRenderer|new GLTFLoader|setAnimationLoop/;
    const shared = blocksOf(texts['game.md'], 'ts').filter((code) => !own.test(code));
    expect(shared.length).toBeGreaterThan(6);
    expect(shared.filter((code) => !demo.includes(code))).toEqual([]);
  });

  test('starters are the first program and the page without a bundler', () => {
    const starter = (file: string) =>
      readFileSync(join(ROOT, 'demos/starters', file), 'utf8').replace(/https:[^']*\.glb/, 'character.glb');
    expect(starter('vite/main.ts')).toBe(programs[0]);
    expect(starter('plain/main.js')).toBe(programs[0]);
    expect(starter('plain/index.html')).toBe(blocksOf(texts['start.md'], 'html')[0]);
    expect(starter('webpack/src/index.js')).toBe(programs[0]);
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    for (const name of ['vite', 'webpack', 'next'])
      expect(JSON.parse(starter(`${name}/package.json`)).dependencies).toHaveProperty(
        'skinned-instanced-mesh',
        `^${version}`,
      );
  });

  /** Somebody's copy of a starter, but for the size of its crowd. */
  function copyStarter(name: string, program: string): string {
    const folder = join(packed.folder, 'starters', name);
    cpSync(join(ROOT, 'demos/starters', name), folder, { recursive: true });
    const file = `starters/${name}/${program}`;
    packed.write(
      file,
      readFileSync(join(packed.folder, file), 'utf8')
        .replace('1_000', '20')
        .replace('count={100}', 'count={20}'),
    );
    return folder;
  }

  test('Vite builds its starter', async () => {
    const app = await packed.openBuilt(copyStarter('vite', 'main.ts'));
    await expectMoving(app).finally(app.close);
  });

  test.runIf(NIGHTLY)('webpack builds its starter', async () => {
    const folder = copyStarter('webpack', 'src/index.js');
    // which takes longest, and is not what is tested
    packed.installAndBuild(folder, '--no-optimization-minimize');
    const app = await packed.openServed(folder);
    await expectMoving(app).finally(app.close);
  });

  test.runIf(NIGHTLY)('Next builds its starter', async () => {
    const folder = copyStarter('next', 'app/page.jsx');
    // files to serve in place of a server
    packed.write('starters/next/next.config.mjs', "export default { output: 'export' };");
    packed.installAndBuild(folder);
    const app = await packed.openServed(join(folder, 'out'));
    await expectMoving(app, CLOCK).finally(app.close);
  });

  /** What a page without a bundler shows. @param change Makes the import map of the guide that of the page. */
  async function openPlain(change: (page: string) => string, code: string): Promise<void> {
    const { folder } = packed;
    packed.write('plain.html', change(blocksOf(texts['start.md'], 'html')[0]));
    packed.write('main.js', code.replace('1_000', '20'));
    cpSync(join(folder, 'public/character.glb'), join(folder, 'character.glb'));
    const app = await packed.openServed(folder, 'plain.html');
    await expectMoving(app).finally(app.close);
  }

  const ofWebGPU = (page: string) =>
    page
      .replace(
        /"three": "(.*)module.js",/,
        '"three": "$1webgpu.js", "three/webgpu": "$1webgpu.js", "three/tsl": "$1tsl.js",',
      )
      .replace(/"(skinned-instanced-mesh)": "(.*)index.js"/, '"$1/webgpu": "$2webgpu.js"');

  test.each(THOROUGH ? [0, 1] : [1])('a page without bundler runs with what a CDN serves (%i)', (i) =>
    openPlain(i === 0 ? (page) => page : ofWebGPU, programs[i]),
  );

  test.runIf(THOROUGH)('a page without bundler runs with one file a renderer, with ./files too', async () => {
    const folder = join(packed.folder, 'cdn');
    const script = join(ROOT, 'tests/setup/singleFiles.mjs');
    execFileSync(process.execPath, [script, join(packed.installed, 'dist'), folder]);
    const uses = "import { SkinnedInstancedMeshExtension } from 'skinned-instanced-mesh/files';";
    for (const [i, [file, entry]] of [
      ['webgl.js', 'skinned-instanced-mesh'],
      ['webgpu.js', 'skinned-instanced-mesh/webgpu'],
    ].entries()) {
      expect(readFileSync(join(folder, file), 'utf8').match(/from ?"\.[^"]*"/g)).toBe(null);
      const change = (page: string) =>
        (i === 0 ? page : ofWebGPU(page)).replace(
          new RegExp(`"${entry}": ".*"`),
          `"${entry}": "./cdn/${file}", "skinned-instanced-mesh/files": "./cdn/${file}"`,
        );
      await openPlain(change, `${uses}\n${programs[i]}\nnew SkinnedInstancedMeshExtension({ json: {} });`);
    }
  });

  test.runIf(THOROUGH)('the code that the file page shows runs as it is', async () => {
    for (const code of codes.slice(0, 2)) {
      const app = await packed.open(code);
      await expectMoving(app).finally(app.close);
    }
  });

  test('snippets type-check, examples of the reference, the code of the file page and an empty app too, under moduleResolution bundler', () => {
    const examples = readdirSync(join(ROOT, 'lib'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(join(ROOT, 'lib', file), 'utf8').replace(/^ *\* ?/gm, ''))
      .flatMap((text) => blocksOf(text, 'ts'));
    expect(examples.length).toBeGreaterThan(10);
    const files = [...snippets, ...examples].map((code, i) => {
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
    for (const [file, code] of Object.entries({ 'swarm.ts': swarm, 'game.ts': game })) {
      packed.write(file, code);
      files.push(file);
    }
    // what programs have by then
    packed.write(
      'globals.d.ts',
      "declare const scene: import('three').Scene, matrix: import('three').Matrix4, delta: number;",
    );
    files.push('globals.d.ts');
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

  const told = (page: Page, text: string) =>
    page.waitForFunction((wanted) => document.title === wanted, text, { timeout: PATIENCE });
  const tell = (page: Page, what: string) => page.evaluate((type) => dispatchEvent(new Event(type)), what);

  test('the program for react-three-fiber runs', async () => {
    const app = await packed.open(components[0].replace('count={100}', 'count={20}'), 'main.tsx');
    await expectMoving(app, CLOCK).finally(app.close);
  });

  test.runIf(THOROUGH)('soldiers for react-three-fiber play by index, and their leader goes', async () => {
    const app = await packed.open(SOLDIERS, 'main.tsx');
    const all = (clip: string) => Array(200).fill(clip).join(', ');
    await told(app.page, `201 instances: ${all('Idle')}, Idle`);
    await tell(app.page, 'run');
    await told(app.page, `201 instances: ${all('Run')}, Run`);
    await tell(app.page, 'alone');
    await told(app.page, `200 instances: ${all('Run')}, -`);
    await tell(app.page, 'leave');
    await told(app.page, 'disposed with 200 instances');
    expect(app.problems.filter((problem) => !CLOCK.test(problem))).toEqual([]);
    await app.close();
  });

  test.each([
    ['skinned-instanced-mesh/react', ''],
    [
      'skinned-instanced-mesh/react/webgpu',
      `import { WebGPURenderer } from 'three/webgpu';
`,
    ],
  ])('enemies of a program with drei come, are clicked and go in strict mode, from %s', async (entry, gl) => {
    const code = ENEMIES(entry, gl);
    const app = await packed.open(
      gl === ''
        ? code
        : code.replace(
            '<Canvas ',
            '<Canvas gl={async (props) => { const made = new WebGPURenderer(props); await made.init(); return made; }} ',
          ),
      'main.tsx',
    );
    const { page, problems, close } = app;
    await expectMoving(app, CLOCK);
    await told(page, '2 instances: Walk, Walk');
    await page.mouse.click(100, 55);
    await told(page, '2 instances: Wave, Walk');
    await tell(page, 'come');
    await told(page, '3 instances: Wave, Walk, Run');
    await tell(page, 'go');
    await told(page, '1 instances: Wave, -, -');
    await tell(page, 'leave');
    // Fiber disposes of instances when the page is idle, which may be after their crowd.
    await page.waitForFunction(() => document.title.startsWith('disposed'), null, { timeout: PATIENCE });
    expect(problems.filter((problem) => !CLOCK.test(problem))).toEqual([]);
    await close();
  });

  test('are short: 15,000 words of guides, 220 lines of README', () => {
    const words = Object.entries(texts).flatMap(([file, text]) =>
      file.endsWith('.md') ? text.match(/\S+/g)! : [],
    );
    expect(words.length).toBeLessThanOrEqual(15_000);
    expect(readme.split('\n').length).toBeLessThanOrEqual(220);
  });

  test('links lead to files and headings that are there', () => {
    const dead: string[] = [];
    for (const [file, text] of Object.entries(pages)) {
      for (const { link, path, anchor } of linksOf(text)) {
        const target = path === '' ? file : join(file, '..', path);
        if (!existsSync(join(ROOT, target))) dead.push(`${file}: ${link}`);
        else if (anchor && !headings(readFileSync(join(ROOT, target), 'utf8')).includes(anchor))
          dead.push(`${file}: ${link}`);
      }
    }
    expect(dead).toEqual([]);
  });
});
