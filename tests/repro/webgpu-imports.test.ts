import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as webgpu from 'three/webgpu';
import { expect, test } from 'vitest';

test('whatever is imported from "three" is in three.webgpu.js too, which pages without a bundler call "three"', () => {
  const names = new Set<string>();
  for (const folder of ['lib', 'shaders']) {
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      // the worker has a copy of three.js of its own, the command is for Node
      if (!file.endsWith('.ts') || /^(worker|cli)\b/.test(file)) continue;
      const code = readFileSync(join(folder, file), 'utf8');
      for (const [, list] of code.matchAll(/import (?!type\b)\{([^}]*)\} from 'three';/g)) {
        for (const name of list.split(',').map((one) => one.trim())) {
          if (name !== '' && !name.startsWith('type ')) names.add(name.split(' as ')[0]);
        }
      }
    }
  }
  expect(names.size).toBeGreaterThan(40);
  expect([...names].filter((name) => !(name in webgpu))).toEqual([]);
});
