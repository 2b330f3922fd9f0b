// Says what is still missing before the package can be published, and fails then.
//
//   node .config/release.mjs [v0.1.0]
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const text = (file) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
const manifest = JSON.parse(text('package.json'));
const tag = process.argv[2] ?? `v${manifest.version}`;
const missing = [];

if (!manifest.author) missing.push('package.json has no "author", whom npm shows.');
for (const [field, example] of [
  ['homepage', 'https://OWNER.github.io/skinned-instanced-mesh'],
  ['bugs', 'https://github.com/OWNER/skinned-instanced-mesh/issues'],
  ['repository', 'git+https://github.com/OWNER/skinned-instanced-mesh.git'],
]) {
  const url = manifest[field]?.url ?? manifest[field];
  if (url === undefined)
    missing.push(`package.json has no "${field}", which npm shows and provenance checks: "${example}".`);
  else if (!/^(git\+)?https:\/\/[^/]+\/?/.test(url) || /OWNER|example\.com/.test(url))
    missing.push(`"${field}" in package.json is "${url}", not an address like "${example}".`);
}
if (tag !== `v${manifest.version}`)
  missing.push(`The tag is ${tag}, and package.json says ${manifest.version}.`);
const heading = text('CHANGELOG.md').match(/^## (.*)$/m)?.[1] ?? 'nothing';
if (heading !== manifest.version)
  missing.push(`CHANGELOG.md begins with "${heading}" in place of "${manifest.version}".`);
if (text('README.md').includes('not on npm yet'))
  missing.push('README.md says that the package is not on npm yet.');
if (text('demos/guides/start.md').includes('not on npm yet'))
  missing.push('demos/guides/start.md says that the package is not on npm yet.');
const changed = execFileSync('git', ['status', '--porcelain'], { encoding: 'utf8' }).trim();
if (changed !== '') missing.push(`Changes are not committed:\n${changed}`);

for (const line of missing) console.error(line);
if (missing.length > 0) process.exit(1);
console.log(`${manifest.name} ${manifest.version} can be published: npm publish`);
