import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright';
import { ReflectionKind } from 'typedoc';
import { createServer } from 'vite';
import { expect, test } from 'vitest';
import * as main from '../../lib/index.js';
import * as webgpu from '../../lib/webgpu.js';
import { browserFlags } from '../setup/browserFlags.mjs';
import { siteBuilt } from '../support/siteBuilt.js';
import { THOROUGH } from '../support/thorough.js';

test('the server of the demos shows the README and all guides as pages, whose links lead to something', async () => {
  const server = await createServer({ logLevel: 'error', server: { port: 0, hmr: false, watch: null } });
  try {
    await server.listen();
    const { port } = server.httpServer!.address() as AddressInfo;
    const seen = new Map<string, string>();
    const visit = async (url: string): Promise<void> => {
      if (seen.has(url)) return;
      seen.set(url, '');
      const response = await fetch(url, { headers: { accept: 'text/html' } });
      if (!response.ok || !/\.md$/.test(response.url)) return void seen.set(url, String(response.status));
      const page = await response.text();
      seen.set(url, page);
      for (const [, , link] of page.matchAll(/(href|src)="([^"]+)"/g))
        if (!/^https?:/.test(link)) await visit(new URL(link, response.url).href.replace(/#.*/, ''));
    };
    // The address that `npm run demo` prints.
    expect((await fetch(`http://localhost:${port}/`)).url).toMatch(/\/demos\/index\.html$/);
    await visit(`http://localhost:${port}/README.md`);
    const dead = [...seen].filter(([, page]) => /^[45]\d\d$/.test(page)).map(([url]) => url);
    expect(dead).toEqual([]);
    const shown = [...seen].filter(([url, page]) => /guides\/.*\.md$/.test(url) && page.includes('<h1 id='));
    expect(shown).toHaveLength(readdirSync('demos/guides').filter((file) => file.endsWith('.md')).length);
  } finally {
    await server.close();
  }
});

test.runIf(THOROUGH)('what the README says of others was read in the last 90 days', () => {
  const [, day] = readFileSync('README.md', 'utf8').match(/^Read on (\d+ \w+ \d{4})/m)!;
  const days = (Date.now() - Date.parse(`${day} UTC`)) / 86_400_000;
  expect(
    days,
    `Read their documentation again, as the table names it, and date it: it says ${day}`,
  ).toBeLessThan(90);
});

/** Of the demos and the documentation, as they are published. */
const MOST_BYTES = 20e6;
const PHONE = { width: 390, height: 844 };

interface Reflection {
  id: number;
  name: string;
  kind: ReflectionKind;
  children?: Reflection[];
  categories?: { title: string; children: number[] }[];
}

const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file));

/** Classes, functions and variables that the reference lacks, or that stand among types. */
function unsorted({ children: modules = [] }: Reflection): string[] {
  const values = modules.flatMap(({ children = [], categories = [] }) => {
    const ids = categories
      .filter(({ title }) => title !== 'Types and options')
      .flatMap((one) => one.children);
    return children.map((child) => ({ ...child, isSorted: ids.includes(child.id) }));
  });
  const types = ReflectionKind.Interface | ReflectionKind.TypeAlias | ReflectionKind.Reference;
  const listed = values.filter(({ kind, isSorted }) => isSorted || (kind & types) !== 0);
  const names = new Set(values.map(({ name }) => name));
  return [
    ...values.filter((value) => !listed.includes(value)).map(({ name }) => name),
    ...Object.keys({ ...main, ...webgpu }).filter((name) => !names.has(name)),
  ];
}

test.runIf(THOROUGH)(
  'the reference has all that can be imported, by what it is for; the site has at most 20 MB, and no page of its documentation is wider than a phone',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sim-docs-'));
    const browser = await chromium.launch({ executablePath: process.env.SIM_BROWSER, args: browserFlags });
    try {
      const site = await siteBuilt();
      const json = join(folder, 'docs.json');
      execFileSync('npm', ['run', 'docs', '--', '--out', folder, '--json', json]);
      expect(unsorted(JSON.parse(readFileSync(json, 'utf8')))).toEqual([]);
      rmSync(json);
      const files = filesOf(folder);
      const bytes = [...files, ...filesOf(site.folder)].reduce((sum, file) => sum + statSync(file).size, 0);
      expect(bytes).toBeLessThan(MOST_BYTES);

      const page = await browser.newPage({ viewport: PHONE });
      // Of pages of interfaces, types and functions each looks like the next.
      const pages = files.filter((file) =>
        /^((documents|classes|modules)\/)?[\w.-]+\.html$/.test(relative(folder, file)),
      );
      expect(pages.length).toBeGreaterThan(50);
      const wide: string[] = [];
      for (const file of pages) {
        await page.goto(String(pathToFileURL(file)), { waitUntil: 'domcontentloaded' });
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        if (width > PHONE.width) wide.push(`${file}: ${width}`);
      }
      expect(wide).toEqual([]);
    } finally {
      await browser.close();
      rmSync(folder, { recursive: true });
    }
  },
);
