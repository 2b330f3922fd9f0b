import { readFileSync } from 'node:fs';
import { allowClosing, run } from './run.js';

// From dist/cli.js; the version stands in one place.
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
for (const stream of [process.stdout, process.stderr]) allowClosing(stream);
process.exitCode = await run(process.argv.slice(2), version, process);
