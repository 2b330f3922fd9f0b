import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { publint } from 'publint';
import { describe, expect, test } from 'vitest';
import { ROOT } from '../../support/PackedApp.js';
import { THOROUGH } from '../../support/thorough.js';
import { checkApp } from './apps.js';
import { linksOf } from './markdown.js';
import { packed } from './packed.js';

/** Files below a folder whose names end so. */
const filesIn = (folder: string, end: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith(end));

describe('the packed tarball', () => {
  test('holds what users need and nothing else', () => {
    const files = readdirSync(packed.installed);
    expect(files.sort()).toEqual(
      ['CHANGELOG.md', 'LICENSE', 'README.md', 'demos', 'dist', 'package.json'].sort(),
    );
    expect(readdirSync(join(packed.installed, 'demos')).sort()).toEqual(['guides']);
  });

  test('is small: 150 files, 3.5 MB', () => {
    const { installed } = packed;
    const files = readdirSync(installed, { recursive: true, encoding: 'utf8' })
      .map((file) => statSync(join(installed, file)))
      .filter((stats) => stats.isFile());
    expect(files.length).toBeLessThanOrEqual(150);
    expect(files.reduce((bytes, { size }) => bytes + size, 0)).toBeLessThanOrEqual(3.5e6);
  });

  test('holds what its README and its guides have links to', () => {
    const texts = filesIn(packed.installed, '.md');
    expect(texts).toContain('README.md');
    const missing = texts.flatMap((file) =>
      linksOf(readFileSync(join(packed.installed, file), 'utf8'))
        .filter(({ path }) => path !== '' && !existsSync(join(packed.installed, file, '..', path)))
        .map(({ path }) => `${file}: ${path}`),
    );
    // pictures, which pages take from the repository: a megabyte
    const pictures = /: (demos\/hero|\.\.\/pictures\/\w+)\.webp$/;
    expect(missing.filter((file) => !pictures.test(file))).toEqual([]);
  });

  test('is named in the guide as it is', () => {
    const guide = readFileSync(join(ROOT, 'demos/guides/start.md'), 'utf8');
    const { name, version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(guide).toContain(basename(packed.tarball));
    expect(guide).toContain(`${name}@${version}/dist`);
  });

  test('has declarations without generic typed arrays, which TypeScript knows from 5.7 on', () => {
    const types = join(packed.installed, 'dist');
    const files = filesIn(types, '.d.ts');
    expect(files.length).toBeGreaterThan(5);
    const generic = /(Int|Uint|Float)\w*Array</;
    expect(files.filter((file) => generic.test(readFileSync(join(types, file), 'utf8')))).toEqual([]);
  });

  test('passes publint', async () => {
    // What is installed is what was packed.
    const { messages } = await publint({ pkgDir: packed.installed, pack: false, strict: true });
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
    const files = filesIn(dist, '.js');
    const code = files.map((file) => readFileSync(join(dist, file), 'utf8')).join('\n');
    expect(code).toMatch(/from ["']three["']/);
    expect(code).not.toContain('class Object3D');
    const { dependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(
      readFileSync(join(ROOT, 'package.json'), 'utf8'),
    );
    expect(dependencies).toBe(undefined);
    const asked = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional);
    expect(asked).toEqual(['three']);
    expect(peerDependencies.three).toMatch(/^>=0\.187\.0 /);
  });

  test.runIf(THOROUGH)('type-checks in an empty app under moduleResolution nodenext', () => {
    expect(checkApp('nodenext')).toEqual([]);
  });
});
