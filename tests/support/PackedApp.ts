import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build as bundle } from 'esbuild';
import { type Browser, chromium, type Page } from 'playwright';
import { build, preview } from 'vite';
import { browserFlags } from '../setup/browserFlags.mjs';
import { drawSeldom } from './drawSeldom.js';
import { PATIENCE } from './patience.js';
import { typeErrorsIn } from './typeErrors.js';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What the app takes from where the library is developed. */
const LINKED = [
  'three',
  '@types/three',
  '@types/webxr',
  '@types/stats.js',
  '@webgpu/types',
  'meshoptimizer',
  'fflate',
  'react',
  'react-dom',
  '@types/react',
  '@types/react-dom',
  'csstype',
  '@react-three/fiber',
];

const run = (command: string, args: string[], cwd: string) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** npm by its script where npm started the tests: Node refuses to start npm.cmd, which it is on Windows. */
const npm = (args: string[], cwd: string) => {
  const script = process.env.npm_execpath;
  return script ? run(process.execPath, [script, ...args], cwd) : run('npm', args, cwd);
};

export interface OpenedApp {
  page: Page;
  /** Errors and warnings so far. */
  problems: string[];
  close(): Promise<void>;
}

/** An app of someone else's, with the library installed from the tarball that would be published. */
export class PackedApp {
  readonly folder = mkdtempSync(join(tmpdir(), 'sim-package-'));
  readonly tarball: string;
  /** One for all pages: to start it takes longer than most of them. */
  private browser: Promise<Browser> | null = null;

  constructor() {
    const { folder } = this;
    npm(['run', 'build:lib'], ROOT);
    const packed = npm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder], ROOT);
    const [{ filename }] = JSON.parse(packed);
    this.tarball = join(folder, filename);

    // The tarball installed by npm, what we develop with linked in, so that no network is needed.
    writeFileSync(
      join(folder, 'package.json'),
      JSON.stringify({ name: 'app', private: true, type: 'module' }),
    );
    npm(
      ['install', '--offline', '--no-audit', '--no-fund', '--legacy-peer-deps', '--no-save', this.tarball],
      folder,
    );
    mkdirSync(join(folder, 'node_modules', '@types'), { recursive: true });
    for (const name of LINKED) {
      try {
        mkdirSync(join(folder, 'node_modules', name, '..'), { recursive: true });
        symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name), 'junction');
      } catch {
        // not every version of @types/three needs all of them
      }
    }
  }

  /** Where the library lies. */
  get installed(): string {
    return join(this.folder, 'node_modules/skinned-instanced-mesh');
  }

  write(file: string, text: string | Buffer): void {
    mkdirSync(join(this.folder, file, '..'), { recursive: true });
    writeFileSync(join(this.folder, file), text);
  }

  /** Installs, from npm, what a folder with a package of its own asks for, with the tarball, and builds it. */
  installAndBuild(folder: string, ...options: string[]): void {
    npm(['install', '--prefer-offline', '--no-audit', '--no-fund', this.tarball], folder);
    npm(['run', 'build', '--', ...options], folder);
  }

  /** Runs a command of a development dependency. */
  runBin(name: string, bin: string, args: string[]): string {
    const entry = createRequire(import.meta.url)
      .resolve(`${name}/package.json`)
      .replace('package.json', bin);
    return run(process.execPath, [entry, ...args], this.folder);
  }

  /** What the compiler says of the app, in files that have one of `ours` in their path: errors inside of @types/three are not ours. */
  typeErrors(files: string[], resolution: string, ours: string[]): string[] {
    const compilerOptions = {
      strict: true,
      target: 'es2022',
      noEmit: true,
      skipLibCheck: false,
      types: [],
      jsx: 'react-jsx',
      module: resolution === 'nodenext' ? 'nodenext' : 'esnext',
      moduleResolution: resolution,
      lib: ['es2022', 'dom', 'dom.iterable'],
    };
    this.write('tsconfig.json', JSON.stringify({ compilerOptions, files }));
    return typeErrorsIn(join(this.folder, 'tsconfig.json'), ours);
  }

  /** Writes a page of one module. */
  writePage(code: string, file = 'main.ts'): void {
    this.write('index.html', `<!doctype html><script type="module" src="/${file}"></script>`);
    this.write(file, code);
  }

  /** Bundles a page of one module in a moment, and opens it. @param conditions Of exports of packages. */
  async open(code: string, file = 'main.ts', conditions: string[] = []): Promise<OpenedApp> {
    const { folder } = this;
    this.write(file, code);
    await bundle({
      absWorkingDir: folder,
      entryPoints: [file],
      outfile: join(folder, 'public/bundle.js'),
      bundle: true,
      format: 'esm',
      target: 'es2022',
      jsx: 'automatic',
      conditions,
      define: { 'process.env.NODE_ENV': '"production"' },
      logLevel: 'silent',
    });
    this.write('public/index.html', '<!doctype html><script type="module" src="bundle.js"></script>');
    return this.openServed(join(folder, 'public'));
  }

  /** Builds the page of a folder, and opens it. */
  async openBuilt(root: string): Promise<OpenedApp> {
    // top-level await
    await build({ root, logLevel: 'error', configFile: false, build: { target: 'es2022' } });
    return this.openServed(join(root, 'dist'));
  }

  /** Opens a page of a folder as it is. What is installed stands for what a CDN has, `public/character.glb` for models of three.js. */
  async openServed(root: string, file = ''): Promise<OpenedApp> {
    const server = await preview({
      root,
      logLevel: 'error',
      configFile: false,
      build: { outDir: '.' },
      preview: { port: 0 },
    });
    const { port } = server.httpServer.address() as { port: number };
    const address = `http://localhost:${port}/${file}`;
    const { page, problems, close } = await this.openPage(address, async (page) => {
      await page.route('https://cdn.jsdelivr.net/npm/**', (route) => {
        const { pathname } = new URL(route.request().url());
        const [, name, path] = pathname.match(/npm\/([^@]+)@[^/]+\/(.*)/) ?? [];
        return route.fulfill({ path: join(this.folder, 'node_modules', name, path) });
      });
      await page.route('https://threejs.org/**/*.glb', (route) =>
        route.fulfill({ path: join(this.folder, 'public/character.glb') }),
      );
    });
    return {
      page,
      problems,
      close: async () => {
        await close();
        await server.close();
      },
    };
  }

  /** Opens a page, as if in a browser of its own. */
  async openPage(url: string, prepare?: (page: Page) => Promise<unknown>): Promise<OpenedApp> {
    this.browser ??= chromium.launch({
      executablePath: process.env.SIM_BROWSER,
      args: browserFlags,
      timeout: PATIENCE,
    });
    const context = await (await this.browser).newContext({ viewport: { width: 200, height: 150 } });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => {
      const text = message.text();
      if (['error', 'warning'].includes(message.type()) && !/GPU stall|favicon|404/.test(text))
        problems.push(text);
    });
    await drawSeldom(page);
    await prepare?.(page);
    await page.goto(url);
    return { page, problems, close: () => context.close() };
  }

  async dispose(): Promise<void> {
    await (await this.browser)?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
