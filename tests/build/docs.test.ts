import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright';
import { build } from 'vite';
import { expect, test } from 'vitest';
import { browserFlags } from '../setup/browserFlags.mjs';
import { THOROUGH } from '../support/thorough.js';

/** Of the demos and the documentation, as they are published. */
const MOST_BYTES = 20e6;
const PHONE = { width: 390, height: 844 };

test.runIf(THOROUGH)(
  'the site has at most 20 MB, and no page of its documentation is wider than a phone',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sim-docs-'));
    const browser = await chromium.launch({ executablePath: process.env.SIM_BROWSER, args: browserFlags });
    try {
      await build({ mode: 'site', logLevel: 'error', build: { outDir: folder } });
      execFileSync('npx', ['typedoc', '--logLevel', 'Error', '--out', join(folder, 'docs')]);
      const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
      const bytes = files.reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
      expect(bytes).toBeLessThan(MOST_BYTES);

      const page = await browser.newPage({ viewport: PHONE });
      const pages = files.filter((file) => /^docs.*\.html$/.test(file));
      expect(pages.length).toBeGreaterThan(100);
      const wide: string[] = [];
      for (const file of pages) {
        await page.goto(String(pathToFileURL(join(folder, file))));
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
